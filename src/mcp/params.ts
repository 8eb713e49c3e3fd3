import { isUriTooLong, MAX_URI_BYTES } from '../core/resources/resource-uri.js';
import { GatewayError } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import {
  JsonText,
  mapMember,
  membersOf,
  memberText,
  withoutMembers,
  type Member,
} from '../lib/json-text/json-text.js';
import {
  namedMemberSteps,
  editableJson,
  type JsonRange,
  type EditableJson,
} from '../lib/json-text/sliced-text.js';
import type { Steps } from '../lib/slices/run-sliced.js';
import type { Params } from './json-rpc.js';

export function requireString(params: Params | undefined, key: string): string {
  const value = params?.[key];
  if (typeof value !== 'string') throw new GatewayError('invalid-params', `${key} must be a string`);
  return value;
}

export function requireUri(params: Params | undefined): string {
  const uri = requireString(params, 'uri');
  if (isUriTooLong(uri))
    throw new GatewayError('invalid-params', `uri must not be longer than ${MAX_URI_BYTES} bytes`);
  return uri;
}

/** Maximum number of members of params; all arguments of a call are one member. Limited, because each key is compared. */
const MAX_PARAMS_MEMBERS = 1000;
/** Maximum characters of the key of a member. */
const MAX_KEY_LENGTH = 1000;

/**
 * The params with the server's own name or URI in place of the public one under `key`. Params with a similar key are refused:
 * a server with a lenient parser could read that key instead of the checked one. `knownMembers` are the positions of the
 * members, if they are known.
 */
export function withOwnValue(
  params: string | undefined,
  key: string,
  ownValue: string,
  knownMembers?: readonly Member[],
): string {
  const text = params ?? '{}';
  return mapMember(text, key, () => JSON.stringify(ownValue), checkedMembers(text, key, knownMembers));
}

/** `withOwnValue` with the positions of the members in the new text, so that the link need not find them again. */
export function ownParams(
  params: string | undefined,
  key: string,
  ownValue: string,
  knownMembers?: readonly Member[],
): OwnParams {
  const text = params ?? '{}';
  const members = checkedMembers(text, key, knownMembers);
  const ownText = JSON.stringify(ownValue);
  // How far the text moves to the right, because of the values that were replaced so far.
  let shift = 0;
  const paramsMembers = members.map((member) => {
    const keyStart = member.keyStart + shift;
    const start = member.start + shift;
    if (member.key === key) shift += ownText.length - (member.end - member.start);
    return { key: member.key, keyStart, start, end: member.end + shift };
  });
  return { params: mapMember(text, key, () => ownText, members), paramsMembers };
}

export interface OwnParams {
  readonly params: string;
  readonly paramsMembers: readonly Member[];
}

/** Keys that the specification defines for params. None is similar to another, so they need not be compared. */
const STANDARD_KEYS: ReadonlySet<string> = new Set([
  '_meta',
  'name',
  'uri',
  'arguments',
  'inputResponses',
  'requestState',
]);

/** The members of the params. Throws when there are too many, or when a key is too long or similar to `key`. */
function checkedMembers(text: string, key: string, knownMembers?: readonly Member[]): readonly Member[] {
  const members = knownMembers ?? membersOf(text);
  if (members.length > MAX_PARAMS_MEMBERS)
    throw new GatewayError('invalid-params', `params must not have more than ${MAX_PARAMS_MEMBERS} members`);
  for (const member of members) {
    if (member.key.length > MAX_KEY_LENGTH)
      throw new GatewayError('invalid-params', `a key must not have more than ${MAX_KEY_LENGTH} characters`);
    if (member.key !== key && !STANDARD_KEYS.has(member.key) && foldKey(member.key) === foldKey(key))
      throw new GatewayError('invalid-params', `${JSON.stringify(member.key)} is too similar to ${key}`);
  }
  return members;
}

/**
 * Returns the same text for keys that a lenient parser may treat as equal. Ignores case (also of long s, the Kelvin sign and the
 * Turkish i), combining marks, invisible characters, hyphens, underscores, and everything after a NUL.
 */
function foldKey(key: string): string {
  // Fast paths for nearly every key: printable ASCII has no special cases.
  if (/^[a-zA-Z0-9]*$/.test(key)) return key.toLowerCase();
  if (/^[\x20-\x7e]*$/.test(key)) return key.replace(/[-_]/g, '').toLowerCase();
  return key
    .normalize('NFKD')
    .replace(/\0.*|[\p{M}\p{C}_-]/gsu, '')
    .toUpperCase()
    .toLowerCase();
}

const TASK: ReadonlySet<string> = new Set(['task']);

/**
 * The text of the params without the member `task`, with which a client asks that the call runs as a task. The gateway offers
 * no tasks. The specification requires that a receiver without tasks processes the request normally.
 */
export const withoutTask = (params: Params | undefined, text: string | undefined): string | undefined =>
  text !== undefined && params !== undefined && 'task' in params ? withoutMembers(text, TASK) : text;

/** `withoutTask` for params that may be long. */
export function paramsWithoutTask(
  params: Params | undefined,
  json: JsonText | undefined,
): JsonText | undefined {
  if (json === undefined || params === undefined || !('task' in params)) return json;
  return json.without(TASK);
}

/** Maximum characters of a progress token as JSON. The token is stored during the call and repeated in each notification. */
export const MAX_PROGRESS_TOKEN_LENGTH = 1024;

/**
 * The JSON text of the progress token in the params of a request. If `_meta` is repeated, each one is searched: JSON.parse reads
 * the last one, but a server may read the first, whose token could be that of another client's call. Throws when the token is
 * too long.
 */
export function progressTokenOf(
  params: string | undefined,
  members: readonly Member[] | undefined = membersWithToken(params),
): string | undefined {
  if (!params || !members) return undefined;
  let token: string | undefined;
  for (const { key, start, end } of members) {
    if (key !== '_meta' || params[start] !== '{') continue;
    const meta = params.slice(start, end);
    if (mayHaveToken(meta)) token = memberText(meta, 'progressToken') ?? token;
  }
  if (token !== undefined && token.length > MAX_PROGRESS_TOKEN_LENGTH) throw tokenTooLong();
  return token;
}

/** `progressTokenOf` in steps, for long params. */
export function* progressTokenSteps(params: JsonText): Steps<string | undefined> {
  const source = yield* editableJson(params);
  const token = (yield* tokenRanges(source)).at(-1);
  if (token && token.end - token.start > MAX_PROGRESS_TOKEN_LENGTH) throw tokenTooLong();
  return token && source.decode(token.start, token.end);
}

/** `withProgressToken` in steps, for long params. */
export function* withProgressTokenSteps(params: JsonText, token: string): Steps<JsonText> {
  const source = yield* editableJson(params);
  const ranges = yield* tokenRanges(source);
  if (ranges.length === 0) return params;
  return yield* source.edited(ranges.map(({ start, end }) => ({ start, end, text: token })));
}

/** Where the progress tokens are in the params. */
function* tokenRanges({ text, members }: EditableJson): Steps<JsonRange[]> {
  const ranges: JsonRange[] = [];
  for (const { key, start } of members)
    if (key === '_meta' && text[start] === '{')
      ranges.push(...(yield* namedMemberSteps(text, ['progressToken'], start)));
  return ranges;
}

const tokenTooLong = (): MemoryLimitError =>
  new MemoryLimitError(
    'progress-token',
    MAX_PROGRESS_TOKEN_LENGTH,
    `progressToken must not be longer than ${MAX_PROGRESS_TOKEN_LENGTH} characters`,
    'invalid-params',
  );

/** The members of the params; undefined if the params cannot contain a progress token. */
export const membersWithToken = (params: string | undefined): readonly Member[] | undefined =>
  params && mayHaveToken(params) ? membersOf(params) : undefined;

/** Whether the text may have a progress token, whose key may be written with escapes. */
const mayHaveToken = (text: string): boolean => text.includes('"progressToken"') || text.includes('\\u');

/** The params with another token: tokens are unique per connection, so each hop has its own. */
export const withProgressToken = (params: string, token: string, members?: readonly Member[]): string =>
  mapMember(
    params,
    '_meta',
    (meta) => (meta.startsWith('{') ? mapMember(meta, 'progressToken', () => token) : meta),
    members,
  );

/** The params of a progress notification with another token. */
export const progressWithToken = (params: string, token: string): string =>
  mapMember(params, 'progressToken', () => token);
