import { createHash } from 'node:crypto';
import { tryParseJson } from '../../lib/json-text/json-value.js';

/** One admin action and its outcome. */
export interface AuditEvent {
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
  readonly requestId: string;
  /** A short summary, already without secrets. */
  readonly change?: Readonly<Record<string, unknown>>;
}

/** Number and hash of an entry, as the next entry refers to them. Those of the last entry are the end of the chain. */
export interface EntryReference {
  readonly seq: number;
  readonly hash: string;
}

export interface AuditEntry extends AuditEvent, EntryReference {
  readonly time: string;
  /** Damage that was found in the log before this entry. */
  readonly notes?: readonly string[];
  /** The hash of the previous entry. */
  readonly prev: string;
}

export const EMPTY_CHAIN: EntryReference = { seq: 0, hash: '0'.repeat(64) };

/** The last member of the JSON object in a line: the hash of the object without this member. */
const HASH_MEMBER = /^,"hash":"([0-9a-f]{64})"\}$/;
const HASH_MEMBER_LENGTH = ',"hash":""}'.length + 64;

/** The line of the entry that follows `previous`, without the line break. */
export function serializeEntry(
  event: AuditEvent,
  previous: EntryReference,
  time: Date,
  notes: readonly string[],
): string {
  const { actor, action, target, outcome, requestId, change } = event;
  const members = { actor, action, target, outcome, requestId, change };
  const position = { seq: previous.seq + 1, time: time.toISOString() };
  const notesMember = notes.length > 0 ? { notes } : {};
  const body = JSON.stringify({ ...position, ...members, ...notesMember, prev: previous.hash });
  const bodyWithoutBrace = body.slice(0, -1);
  return `${bodyWithoutBrace},"hash":"${sha256(body)}"}`;
}

/** Undefined when the line is incomplete or was changed after it was written: its hash does not match. */
export function parseEntry(line: Uint8Array): AuditEntry | undefined {
  const hashStart = Math.max(0, line.length - HASH_MEMBER_LENGTH);
  const text = Buffer.from(line.buffer, line.byteOffset, line.length);
  const [, hash] = HASH_MEMBER.exec(text.toString('latin1', hashStart)) ?? [];
  const bodyWithoutBrace = text.subarray(0, hashStart);
  if (hash === undefined || hash !== sha256(bodyWithoutBrace, '}')) return undefined;
  return tryParseJson(text.toString('utf8')) as AuditEntry | undefined;
}

function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
