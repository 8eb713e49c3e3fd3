import { isJsonObject, tryParseJson, type JsonObject } from '../lib/json-text/json-value.js';
import type { StoredSession, StoredSubscription } from './session-records.js';

/**
 * One change of the session records, as a line of the journal. Applying it twice has the same effect as once. The values of
 * `do` are part of the file format:
 * - `keep`: a session was added or changed
 * - `saw`: the client of the session was active at the time `seen`
 * - `forget`: the session was removed
 */
export type SessionChange =
  | { readonly do: 'keep'; readonly session: StoredSession; readonly seen: number }
  | { readonly do: 'saw'; readonly session: string; readonly seen: number }
  | { readonly do: 'subscribe'; readonly session: string; readonly subscription: StoredSubscription }
  | { readonly do: 'unsubscribe'; readonly session: string; readonly subscription: string }
  | { readonly do: 'forget'; readonly session: string };

/** One line of the journal, with its line break. */
export const serializeChange = (change: SessionChange): string =>
  change.do === 'keep'
    ? `{"do":"keep","session":${serializeSession(change.session)},"seen":${change.seen}}\n`
    : `${JSON.stringify(change)}\n`;

/**
 * `profile` is the JSON text of an object. In the file, its members are written as members of the session instead. Joins the two
 * JSON texts without parsing the profile.
 */
const serializeSession = ({ profile, ...session }: StoredSession): string =>
  `${JSON.stringify(session).slice(0, -1)},${profile.slice(1)}`;

/** Undefined when the line is incomplete or not a change. */
export function parseChange(line: string): SessionChange | undefined {
  const value = tryParseJson(line);
  if (!isJsonObject(value) || !VALIDATORS[String(value['do'])]?.(value)) return undefined;
  if (value['do'] !== 'keep') return value as SessionChange;
  const { capabilities, clientInfo, ...session } = value['session'] as JsonObject;
  const profile = JSON.stringify({ capabilities, clientInfo });
  return { ...value, session: { ...session, profile } } as unknown as SessionChange;
}

/**
 * Checks of the members, by the value of `do`. The object has no prototype, because `do` of a damaged line may be any
 * string.
 */
const VALIDATORS: Readonly<Record<string, (change: JsonObject) => boolean>> = Object.assign(
  Object.create(null),
  {
    keep: ({ session, seen }: JsonObject) => isSession(session) && isTime(seen),
    saw: ({ session, seen }: JsonObject) => isText(session) && isTime(seen),
    subscribe: ({ session, subscription }: JsonObject) => isText(session) && isSubscription(subscription),
    unsubscribe: ({ session, subscription }: JsonObject) => isText(session) && isText(subscription),
    forget: ({ session }: JsonObject) => isText(session),
  },
);

const isSession = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value['id'], value['revision']].every(isText) &&
  [value['project'], value['logLevel']].every((text) => text === undefined || isText(text)) &&
  isJsonObject(value['capabilities']) &&
  isTime(value['opened']) &&
  isPrincipal(value['principal']);

const isPrincipal = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value['id'], value['terms']].every(isText) &&
  (value['until'] === undefined || isTime(value['until'])) &&
  (value['grants'] === '*' || (Array.isArray(value['grants']) && value['grants'].every(isText)));

const isSubscription = (value: unknown): boolean =>
  isJsonObject(value) &&
  [value['id'], value['server'], value['uri']].every(isText) &&
  // `isExact` is absent if the URI does not look like a pattern, and in records of version 0.1.0.
  [undefined, true].includes(value['isExact'] as undefined) &&
  isTime(value['since']);

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): value is number => Number.isFinite(value);
