import { hash } from 'node:crypto';
import { Text, TextList } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const KEY_ID = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  requirement: 'must have 1 to 64 characters of A-Z a-z 0-9 _ . - and start with a letter or digit',
};

const KEY_HASH = {
  pattern: /^sha256:[0-9a-fA-F]{64}$/,
  requirement:
    'must be sha256: and 64 hex digits, as `gatehouse key create` prints them; never the key itself',
};

export const GRANT = {
  pattern: /^(\*|[A-Za-z0-9][A-Za-z0-9_.-]{0,63})$/,
  requirement: 'must be the name of a project, or "*" for all',
};

const EXPIRY = {
  pattern: /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/,
  requirement: 'must be a date like 2027-01-31, or a time with its zone like 2027-01-31T18:00:00Z',
};

/** An API key of a client. The configuration contains its hash only, so that reading the file does not grant access. */
export class ApiKeyConfig {
  @Text('Name of the key in logs and in the audit log.', {
    rule: KEY_ID,
    missingMessage: 'is required',
    mayBeLogged: true,
  })
  readonly id: string;

  @Text('`sha256:` and the SHA-256 of the key in hex.', { rule: KEY_HASH, missingMessage: 'is required' })
  readonly hash: string;

  @TextList('Projects that the key may use, or "*" for every server.', {
    rule: GRANT,
    missingMessage: 'is required; ["*"] grants every server',
    mayBeLogged: true,
  })
  readonly projects: readonly string[];

  @Rule<string>('existingDate', isExistingDate, 'must be an existing date')
  @Text('Expiry of the key; a date without a time means the start of that day in UTC.', {
    rule: EXPIRY,
    mayBeLogged: true,
  })
  readonly expires?: string;
}

/** Hash of a key. A key has 256 random bits, so neither salt nor stretching is needed. */
export const hashOf = (key: string): string => `sha256:${hash('sha256', key, 'hex')}`;

/** Whether the day exists. `Date.parse` alone would read February 30 as March 2. */
function isExistingDate(text: string): boolean {
  const day = text.slice(0, 10);
  const time = Date.parse(day);
  return !Number.isNaN(Date.parse(text)) && new Date(time).toISOString().startsWith(day);
}
