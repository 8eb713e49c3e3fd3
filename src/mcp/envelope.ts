import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError } from '../core/errors.js';
import {
  mapMember,
  membersOf,
  memberText,
  withoutMembers,
  type JsonText,
  type Member,
} from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import { TextCache } from '../lib/json-text/text-cache.js';
import { bytesOfMembers, MAX_PROFILE_BYTES, profileTooLarge, type ClientProfile } from './client-profile.js';
import type { Params } from './json-rpc.js';
import { INPUT_MEMBERS } from './input-required.js';
import { isLoggingLevel, LOGGING_LEVELS } from './logging-level.js';
import { TRACE_KEYS } from './tracing.js';

/*
 * Revision 2026-07-28 has no sessions. Each request has an envelope in `_meta`: the revision, the name and version of the
 * client, its capabilities and its log level.
 */

/** The revision of the 2026 era. */
export const MODERN_VERSION = '2026-07-28';

/** The only extension whose capability is forwarded to servers: MCP Apps. */
const FORWARDED_EXTENSION = 'io.modelcontextprotocol/ui';

const keyOf = (name: string): string => `io.modelcontextprotocol/${name}`;
const PROTOCOL_VERSION = keyOf('protocolVersion');
const CLIENT_INFO = keyOf('clientInfo');
const CLIENT_CAPABILITIES = keyOf('clientCapabilities');
const LOG_LEVEL = keyOf('logLevel');
/** The key of the server's name and version in the `_meta` of a result. */
export const SERVER_INFO_META = keyOf('serverInfo');
/** The key in `_meta` of each message on a listen stream. Its value is the id of the request `subscriptions/listen`. */
export const SUBSCRIPTION_ID_META = keyOf('subscriptionId');

/** Members of `_meta` that belong to one hop. The values of a client must not reach a server. */
const HOP_KEYS: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION,
  CLIENT_INFO,
  CLIENT_CAPABILITIES,
  LOG_LEVEL,
  SUBSCRIPTION_ID_META,
  'progressToken',
]);

/** Whether a member of `_meta` may differ when a client repeats a request: it belongs to one hop, or to a trace. */
export const isHopKey = (key: string): boolean =>
  HOP_KEYS.has(key) || (TRACE_KEYS as readonly string[]).includes(key);

/** The envelope of a request of a client. */
export interface ClientEnvelope extends ClientProfile {
  readonly version: string;
  readonly logLevel: LoggingLevel | undefined;
}

const metaOf = (params: Params | undefined): Params | undefined => {
  const meta = params?.['_meta'];
  return isJsonObject(meta) ? meta : undefined;
};

/**
 * Whether the params certainly have no progress token. `params` are the parsed text, with the last `_meta` if there are
 * several: then the result is false.
 */
export const lacksProgressToken = (
  params: Params | undefined,
  members: readonly Member[] | undefined,
): boolean => metaMember(params, 'progressToken') === undefined && hasOneMeta(members);

function hasOneMeta(members: readonly Member[] | undefined): boolean {
  let count = 0;
  if (members) for (const { key } of members) if (key === '_meta') count++;
  return count === 1;
}

/** A member of `_meta` in the params. */
export const metaMember = (params: Params | undefined, key: string): unknown => metaOf(params)?.[key];

/** Whether the params have the envelope's member with the version, even if the envelope is not valid. */
export const claimsEnvelope = (params: Params | undefined): boolean =>
  metaOf(params)?.[PROTOCOL_VERSION] !== undefined;

/** The version in the envelope; undefined if it is missing or not a string. */
export function claimedVersion(params: Params | undefined): string | undefined {
  const version = metaOf(params)?.[PROTOCOL_VERSION];
  return typeof version === 'string' ? version : undefined;
}

/** The envelope in the params of a request. Throws when it is invalid or too large. */
export function readEnvelope(params: Params | undefined, paramsText: string | undefined): ClientEnvelope {
  if (paramsText !== undefined && paramsText.length > MAX_PROFILE_BYTES) requireShortProfile(paramsText);
  const meta = metaOf(params);
  const version = claimedVersion(params);
  const capabilities = meta?.[CLIENT_CAPABILITIES];
  const clientInfo = meta?.[CLIENT_INFO];
  const logLevel = meta?.[LOG_LEVEL];
  if (version === undefined) throw badEnvelope(`${PROTOCOL_VERSION} must be a string`);
  if (!isJsonObject(capabilities)) throw badEnvelope(`${CLIENT_CAPABILITIES} must be an object`);
  if (clientInfo !== undefined && !isImplementation(clientInfo))
    throw badEnvelope(`${CLIENT_INFO} must have a name and a version`);
  if (logLevel !== undefined && !isLoggingLevel(logLevel))
    throw badEnvelope(`${LOG_LEVEL} must be one of ${LOGGING_LEVELS.join(', ')}`);
  return { version, capabilities, clientInfo, logLevel };
}

export const badEnvelope = (problem: string): GatewayError =>
  new GatewayError('bad-envelope', `Invalid params: in _meta, ${problem}`);

/**
 * The params of a request of 2026 for a server of 2025: without the envelope and without the members of a repeated request.
 * `progressToken` is the token of the request to the server.
 */
export function withoutEnvelope(
  params: string,
  progressToken: number | undefined,
  members: readonly Member[] = membersOf(params),
): string {
  const tokenMember = progressToken === undefined ? '' : `"progressToken":${progressToken}`;
  let text = '';
  for (const { key, keyStart, start, end } of members) {
    if (INPUT_MEMBERS.has(key)) continue;
    let member = '';
    if (key !== '_meta' || params[start] !== '{') member = params.slice(keyStart, end);
    else {
      const meta = nextHopMeta(tokenMember, params.slice(start, end));
      if (meta === '{}') continue;
      member = params.slice(keyStart, start) + meta;
    }
    text += text === '' ? member : `,${member}`;
  }
  return `{${text}}`;
}

/** The envelope of a request to a server. */
export interface RequestEnvelope {
  /** The result of `envelopeMembers`. */
  readonly members: string;
  readonly logLevel?: LoggingLevel | undefined;
  /** Set when the server may report progress. */
  readonly progressToken?: number | undefined;
}

/** The members of the envelope that are the same for all requests of one client. */
export const envelopeMembers = (clientInfo: Implementation, capabilities: ClientCapabilities): string =>
  `${identityMembers(clientInfo)},${capabilitiesMember(capabilities)}`;

/** The members of the envelope that are the same for all clients. */
export const identityMembers = (clientInfo: Implementation): string =>
  `${memberOf('protocolVersion', MODERN_VERSION)},${memberOf('clientInfo', clientInfo)}`;

/** The member of the envelope with the capabilities that are forwarded. */
export function capabilitiesMember(capabilities: ClientCapabilities): string {
  const { roots, sampling, elicitation, extensions } = capabilities;
  const ui = extensions?.[FORWARDED_EXTENSION];
  if (!roots && !sampling && !elicitation && !ui) return NO_CAPABILITIES;
  const forwarded = {
    ...(roots && { roots: {} }),
    ...(sampling && { sampling }),
    ...(elicitation && { elicitation }),
    ...(ui && { extensions: { [FORWARDED_EXTENSION]: ui } }),
  };
  return memberOf('clientCapabilities', forwarded);
}

/** The params with the envelope in `_meta`. `members` are the positions of the params' members, if they are known. */
export function withEnvelope(
  params: string | undefined,
  envelope: RequestEnvelope,
  members?: readonly Member[],
): string {
  const text = params ?? '{}';
  const newMembers = envelopeText(envelope);
  const withNewMeta = (): string => prepend(`"_meta":{${newMembers}}`, text);
  // The key may be written with escapes.
  if (!members && !text.includes('"_meta"') && !text.includes('\\u')) return withNewMeta();
  const knownMembers = members ?? membersOf(text);
  if (!knownMembers.some(({ key }) => key === '_meta')) return withNewMeta();
  // If `_meta` is repeated, each one is replaced: a server may read the first or the last.
  return mapMember(
    text,
    '_meta',
    (meta) => (meta.startsWith('{') ? nextHopMeta(newMembers, meta) : `{${newMembers}}`),
    knownMembers,
  );
}

/** Members of results that only the 2026 era has. */
const MODERN_RESULT_KEYS = ['resultType', 'ttlMs', 'cacheScope'] as const;
const MODERN_RESULT_KEY_SET: ReadonlySet<string> = new Set(MODERN_RESULT_KEYS);

/**
 * The result of a server of 2025 for a client of 2026, without the members that only the 2026 era defines. A server of 2025 may
 * use their names for anything.
 */
export function withoutModernMembers(result: JsonText): JsonText {
  for (const key of MODERN_RESULT_KEYS)
    if (result.mayHaveMember(key) && result.firstCharacterOf(key) !== undefined)
      return result.without(MODERN_RESULT_KEY_SET);
  return result;
}

/** The name and version of the server in the `_meta` of a result; undefined if it has none. */
export function serverInfoIn(meta: unknown): Implementation | undefined {
  const info = (meta as Readonly<Record<string, unknown>> | undefined)?.[SERVER_INFO_META];
  return isImplementation(info) ? info : undefined;
}

/** The id of the request `subscriptions/listen` that a notification of a server belongs to. */
export function subscriptionIdIn({ _meta: meta }: Params): unknown {
  return isJsonObject(meta) ? meta[SUBSCRIPTION_ID_META] : undefined;
}

/**
 * The params of a notification for listen streams, as the parts before and after the id of the request
 * `subscriptions/listen` in `_meta`. The id differs between the streams; the parts are the same for all of them.
 */
export function aroundSubscriptionId(params: string | undefined): readonly [before: string, after: string] {
  const before = `{"_meta":{"${SUBSCRIPTION_ID_META}":`;
  if (params === undefined) return [before, '}}'];
  const meta = memberText(params, '_meta');
  const after = meta?.startsWith('{') ? continued(withoutMembers(meta, HOP_KEYS)) : '}';
  return [before, after + continued(meta === undefined ? params : withoutMembers(params, META))];
}

/** The params of a notification of a server without the id of the gateway's own request `subscriptions/listen`. */
export function withoutSubscriptionId(params: string): string {
  const meta = params.includes(SUBSCRIPTION_ID_META) ? memberText(params, '_meta') : undefined;
  if (!meta?.startsWith('{')) return params;
  const remainingMeta = withoutMembers(meta, SUBSCRIPTION_ID);
  return remainingMeta === '{}'
    ? withoutMembers(params, META)
    : mapMember(params, '_meta', () => remainingMeta);
}

const META: ReadonlySet<string> = new Set(['_meta']);
const SUBSCRIPTION_ID: ReadonlySet<string> = new Set([SUBSCRIPTION_ID_META]);

/** The text of the object without its opening brace, to be appended to the text of other members. */
function continued(object: string): string {
  const rest = object.slice(1).trimStart();
  return rest === '}' ? rest : `,${rest}`;
}

const memberOf = (name: string, value: unknown): string => `"${keyOf(name)}":${JSON.stringify(value)}`;

/** `capabilitiesMember` without capabilities. */
export const NO_CAPABILITIES = memberOf('clientCapabilities', {});

/** The members of `_meta` that make up the envelope. */
export function envelopeText({ members, logLevel, progressToken }: RequestEnvelope): string {
  let text = members;
  if (logLevel !== undefined) text += `,${memberOf('logLevel', logLevel)}`;
  if (progressToken !== undefined) text += `,"progressToken":${progressToken}`;
  return text;
}

/** Whether a client may send this `_meta` again: progress tokens and traces differ in each request. */
export function mayRepeat(meta: string): boolean {
  return !meta.includes('"progressToken"') && !meta.includes('"traceparent"');
}

/** The `_meta` of a client for the next hop. `newMembers` take the place of the members of the previous hop. */
export function nextHopMeta(newMembers: string, meta: string): string {
  const rest = continuedMetas.get(meta);
  return newMembers === '' ? `{${rest.startsWith(',') ? rest.slice(1) : rest}` : `{${newMembers}${rest}`;
}

/**
 * Caches `_meta` without the members of one hop, `continued`. A client usually sends the same `_meta` in all of its
 * requests.
 */
const continuedMetas = new TextCache((meta) => continued(withoutMembers(meta, HOP_KEYS)), {
  texts: 256,
  length: 2048,
  stores: mayRepeat,
});

/** The object's text with these members before its own. */
const prepend = (members: string, object: string): string =>
  members === '' ? object : `{${members}${continued(object)}`;

const isImplementation = (info: unknown): info is Implementation =>
  isJsonObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string';

/**
 * Throws when capabilities and client information in the envelope are too large. They stay in memory until the request ends,
 * and are repeated in requests to servers.
 */
function requireShortProfile(params: string): void {
  for (const { key, start, end } of membersOf(params)) {
    if (key !== '_meta' || params[start] !== '{') continue;
    const bytes = bytesOfMembers(params.slice(start, end), [CLIENT_CAPABILITIES, CLIENT_INFO]);
    if (bytes > MAX_PROFILE_BYTES) throw profileTooLarge('bad-envelope');
  }
}
