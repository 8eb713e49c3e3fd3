import { isJsonObject, type JsonObject, tryParseJson } from '../lib/json-text/json-value.js';
import type { StoredSession, StoredSubscription } from './session-records.js';

/** One change of the session records, as a line of the journal. Idempotent. */
export type SessionChange =
  | { readonly do: 'keep'; readonly session: StoredSession; readonly seen: number }
  | { readonly do: 'saw'; readonly session: string; readonly seen: number }
  | { readonly do: 'subscribe'; readonly session: string; readonly subscription: StoredSubscription }
  | { readonly do: 'unsubscribe'; readonly session: string; readonly subscription: string }
  | { readonly do: 'forget'; readonly session: string };

/** One line of the journal. */
export const writeChange = (change: SessionChange): string => `${JSON.stringify(change)}\n`;

/** Undefined when the line is incomplete or not a change. */
export function readChange(line: string): SessionChange | undefined {
  const value = tryParseJson(line);
  return isJsonObject(value) && SHAPES[String(value['do'])]?.(value) ? (value as SessionChange) : undefined;
}

const SHAPES: Readonly<Record<string, (change: JsonObject) => boolean>> = Object.assign(Object.create(null), {
  keep: ({ session, seen }: JsonObject) => isSession(session) && isTime(seen),
  saw: ({ session, seen }: JsonObject) => isText(session) && isTime(seen),
  subscribe: ({ session, subscription }: JsonObject) => isText(session) && isSubscription(subscription),
  unsubscribe: ({ session, subscription }: JsonObject) => isText(session) && isText(subscription),
  forget: ({ session }: JsonObject) => isText(session),
});

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
  isJsonObject(value) && [value['id'], value['server'], value['uri']].every(isText) && isTime(value['since']);

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime = (value: unknown): value is number => Number.isFinite(value);
