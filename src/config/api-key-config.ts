import { hash } from 'node:crypto';
import { Text, TextList } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const KEY_ID = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  says: 'must have 1 to 64 characters of A-Z a-z 0-9 _ . - and start with a letter or digit',
};

const KEY_HASH = {
  pattern: /^sha256:[0-9a-fA-F]{64}$/,
  says: 'must be sha256: and 64 hex digits, as `gatehouse key create` prints them; never the key itself',
};

export const GRANT = {
  pattern: /^(\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,63})$/,
  says: 'must be the name of a project, or "*" for all',
};

const INSTANT = {
  pattern: /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/,
  says: 'must be a date like 2027-01-31, or a time with its zone like 2027-01-31T18:00:00Z',
};

/** A key of a client. The key itself is nowhere: whoever reads this file cannot use it. */
export class ApiKeyConfig {
  @Text('Name of the key in logs and audits.', { rule: KEY_ID, missing: 'must be given', open: true })
  readonly id: string;

  @Text('sha256: and the SHA-256 of the key in hex.', { rule: KEY_HASH, missing: 'must be given' })
  readonly hash: string;

  @TextList('Projects the key may use, or "*" for everything.', {
    rule: GRANT,
    missing: 'must be given; ["*"] grants everything',
    open: true,
  })
  readonly projects: readonly string[];

  @Rule<string>('calendar', isOnCalendar, 'must be a day that the calendar has')
  @Text('When the key ends; a date alone means the start of that day in UTC.', { rule: INSTANT, open: true })
  readonly expires?: string;
}

/** What a config holds of a key. No salt or stretching: 256 random bits cannot be guessed, however fast the hash. */
export const hashOf = (key: string): string => `sha256:${hash('sha256', key, 'hex')}`;

/** Date.parse takes the 30th of February for the 2nd of March. */
function isOnCalendar(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(day);
  return !Number.isNaN(Date.parse(text)) && new Date(time).toISOString().startsWith(day);
}
