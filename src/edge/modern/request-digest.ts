import { createHash } from 'node:crypto';
import { MAX_EAGER_LENGTH, membersOf, type Member } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';
import { isHopKey } from '../../mcp/envelope.js';
import { INPUT_MEMBERS } from '../../mcp/input-required.js';

export interface DigestedRequest {
  readonly principal: { readonly id: string };
  readonly method: string;
  /** The projects that path and headers name. */
  readonly namedProjects: readonly string[];
  readonly paramsText: string | undefined;
  readonly paramsMembers?: readonly Member[] | undefined;
}

/**
 * SHA-256 of the parts of a request that must be the same when the client repeats it to answer the questions of a server.
 * Not included: the answers (`inputResponses`), the `requestState` and some members of `_meta` (`isHopKey`). The order of
 * members does not count, except within long values, which are not parsed.
 */
export function requestDigest(request: DigestedRequest): Buffer {
  const { principal, method, namedProjects, paramsText = '{}', paramsMembers } = request;
  const hash = createHash('sha256').update(JSON.stringify([principal.id, method, namedProjects]));
  for (const { key, value } of sortedMembers(paramsText, paramsMembers)) {
    if (INPUT_MEMBERS.has(key)) continue;
    const isMeta = key === '_meta' && value.startsWith('{');
    hash.update(JSON.stringify(key)).update(isMeta ? comparableMeta(value) : comparable(value));
  }
  return hash.digest();
}

interface MemberText {
  readonly key: string;
  readonly value: string;
}

/** The members sorted by key. Members with the same key keep their order, because the sort is stable. */
const sortedMembers = (text: string, members: readonly Member[] = membersOf(text)): MemberText[] =>
  members
    .map(({ key, start, end }) => ({ key, value: text.slice(start, end) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));

/** The text of `_meta` without the members that may differ when a request is repeated, sorted by key. */
const comparableMeta = (meta: string): string =>
  sortedMembers(meta)
    .filter(({ key }) => !isHopKey(key))
    .map(({ key, value }) => JSON.stringify(key) + comparable(value))
    .join('');

const comparable = (text: string): string =>
  text.length > MAX_EAGER_LENGTH
    ? text
    : JSON.stringify(JSON.parse(text), (_key, value: unknown) =>
        isJsonObject(value) ? sorted(value) : value,
      );

const sorted = (object: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)));
