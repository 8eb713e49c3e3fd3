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
 * Revision 2026-07-28 has no session. Each request has an envelope in `_meta`: the revision, and who the client is and what
 * it supports.
 */

/** The revision of the 2026 era. */
export const MODERN_VERSION = '2026-07-28';

/** The extension whose capability is forwarded: MCP Apps. */
const FORWARDED_EXTENSION = 'io.modelcontextprotocol/ui';

const keyOf = (name: string): string => `io.modelcontextprotocol/${name}`;
const PROTOCOL_VERSION = keyOf('protocolVersion');
const CLIENT_INFO = keyOf('clientInfo');
const CLIENT_CAPABILITIES = keyOf('clientCapabilities');
const LOG_LEVEL = keyOf('logLevel');
/** The key of the server's name and version in the `_meta` of a result. */
export const SERVER_INFO_META = keyOf('serverInfo');
/** The key in `_meta` of everything that is sent on a listen stream. */
export const SUBSCRIPTION_ID_META = keyOf('subscriptionId');

/** Members of `_meta` that belong to one hop. What a client wrote in them must not reach a server. */
const HOP_KEYS: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION,
  CLIENT_INFO,
  CLIENT_CAPABILITIES,
  LOG_LEVEL,
  SUBSCRIPTION_ID_META,
  'progressToken',
]);

/** Whether a member of `_meta` says something of one request, so that it differs when the request is repeated. */
export const isHopKey = (key: string): boolean =>
  HOP_KEYS.has(key) || (TRACE_KEYS as readonly string[]).includes(key);

/** What a client of 2026 says of itself in a request. */
export interface ClientEnvelope extends ClientProfile {
  readonly version: string;
  readonly logLevel: LoggingLevel | undefined;
}

const metaOf = (params: Params | undefined): Params | undefined => {
  const meta = params?.['_meta'];
  return isJsonObject(meta) ? meta : undefined;
};

/** A member of `_meta` in the params. */
export const metaMember = (params: Params | undefined, key: string): unknown => metaOf(params)?.[key];

/** Whether the params claim to be of the 2026 era, even if their envelope is not valid. */
export const claimsEnvelope = (params: Params | undefined): boolean =>
  metaOf(params)?.[PROTOCOL_VERSION] !== undefined;

/** The version that the params claim; undefined if it is no text. */
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

/** The params as a server of 2025 knows them: without envelope, and with the progress token of its own hop. */
export function withoutEnvelope(
  params: string,
  progressToken: number | undefined,
  members: readonly Member[] = membersOf(params),
): string {
  const own = progressToken === undefined ? '' : `"progressToken":${progressToken}`;
  let kept = '';
  for (const { key, keyStart, start, end } of members) {
    if (INPUT_MEMBERS.has(key)) continue;
    const separator = kept === '' ? '' : ',';
    if (key !== '_meta' || params[start] !== '{') {
      kept += separator + params.slice(keyStart, end);
      continue;
    }
    const meta = merge(own, params.slice(start, end));
    if (meta !== '{}') kept += separator + params.slice(keyStart, start) + meta;
  }
  return `{${kept}}`;
}

/** What a server may know of the client for whom a request is made. */
export interface RequestEnvelope {
  /** The text of the constant members: `envelopeMembers`. */
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

/** The params with the envelope in `_meta`. `members` are the members of the params, if they are known. */
export function withEnvelope(
  params: string | undefined,
  envelope: RequestEnvelope,
  members?: readonly Member[],
): string {
  const text = params ?? '{}';
  const own = textOf(envelope);
  // The key may be written with escapes.
  if (!members && !text.includes('"_meta"') && !text.includes('\\u'))
    return prepend(`"_meta":{${own}}`, text);
  const known = members ?? membersOf(text);
  if (!known.some(({ key }) => key === '_meta')) return prepend(`"_meta":{${own}}`, text);
  // All of repeated members: a server may read the first, or the last.
  return mapMember(text, '_meta', (meta) => (meta.startsWith('{') ? merge(own, meta) : `{${own}}`), known);
}

/** Members of results that only the 2026 era has. */
const RESULT_KEYS: ReadonlySet<string> = new Set(['resultType', 'ttlMs', 'cacheScope']);

/**
 * The result of a server of 2025 for a client of 2026. Members that mean something only in the 2026 era are removed: in the
 * 2025 era a server may use the names for anything.
 */
export function withoutModernMembers(result: JsonText): JsonText {
  for (const key of RESULT_KEYS)
    if (result.mayHaveMember(key) && result.firstCharacterOf(key) !== undefined)
      return result.without(RESULT_KEYS);
  return result;
}

/** The name and version of the server in a result; undefined if the server does not say it. */
export function serverInfoIn(meta: unknown): Implementation | undefined {
  const info = (meta as Readonly<Record<string, unknown>> | undefined)?.[SERVER_INFO_META];
  return isImplementation(info) ? info : undefined;
}

/** The id of the request `subscriptions/listen` that a notification belongs to. */
export function subscriptionIdIn({ _meta: meta }: Params): unknown {
  return isJsonObject(meta) ? meta[SUBSCRIPTION_ID_META] : undefined;
}

/**
 * Splits the params of a notification around the id of the request `subscriptions/listen` in `_meta`: the parts before and
 * after the id. Each listen stream has an id of its own; the parts are the same for all.
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
  const rest = withoutMembers(meta, SUBSCRIPTION_ID);
  return rest === '{}' ? withoutMembers(params, META) : mapMember(params, '_meta', () => rest);
}

const META: ReadonlySet<string> = new Set(['_meta']);
const SUBSCRIPTION_ID: ReadonlySet<string> = new Set([SUBSCRIPTION_ID_META]);

/** The object's text behind a first member that is written before it. */
function continued(object: string): string {
  const rest = object.slice(1).trimStart();
  return rest === '}' ? rest : `,${rest}`;
}

const memberOf = (name: string, value: unknown): string => `"${keyOf(name)}":${JSON.stringify(value)}`;

const NO_CAPABILITIES = memberOf('clientCapabilities', {});

function textOf({ members, logLevel, progressToken }: RequestEnvelope): string {
  let text = members;
  if (logLevel !== undefined) text += `,${memberOf('logLevel', logLevel)}`;
  if (progressToken !== undefined) text += `,"progressToken":${progressToken}`;
  return text;
}

const merge = (own: string, meta: string): string => prepend(own, withoutHopMembers(meta));

/** By `_meta` of a client, which is usually the same in all of its requests: what is left of it on the next hop. */
const keptMeta = new TextCache((meta) => withoutMembers(meta, HOP_KEYS), { texts: 256, length: 2048 });

const withoutHopMembers = (meta: string): string =>
  differsInEachRequest(meta) ? withoutMembers(meta, HOP_KEYS) : keptMeta.get(meta);

const differsInEachRequest = (meta: string): boolean =>
  meta.includes('"progressToken"') || meta.includes('"traceparent"');

/** The object's text with these members before its own. */
const prepend = (members: string, object: string): string =>
  members === '' ? object : `{${members}${continued(object)}`;

const isImplementation = (info: unknown): info is Implementation =>
  isJsonObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string';

/** The profile is stored as long as the request runs, and repeated in requests to servers. */
function requireShortProfile(params: string): void {
  for (const { key, start, end } of membersOf(params)) {
    if (key !== '_meta' || params[start] !== '{') continue;
    const bytes = bytesOfMembers(params.slice(start, end), [CLIENT_CAPABILITIES, CLIENT_INFO]);
    if (bytes > MAX_PROFILE_BYTES) throw profileTooLarge('bad-envelope');
  }
}
