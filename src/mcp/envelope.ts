import type { ClientCapabilities, Implementation, LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Params } from './json-rpc.js';
import { TRACE_KEYS } from './tracing.js';
import { mapMember, membersOf, withoutMembers, type Member } from '../lib/json-text/json-text.js';

/*
 * Revision 2026-07-28 has no session. Each request has an envelope in `_meta`: the revision, and who the client is and what
 * it supports.
 */

/** The revision of the 2026 era. */
export const MODERN_VERSION = '2026-07-28';

/** The extension whose capability is forwarded: MCP Apps. */
const FORWARDED_EXTENSION = 'io.modelcontextprotocol/ui';

const keyOf = (name: string): string => `io.modelcontextprotocol/${name}`;
const SERVER_INFO = keyOf('serverInfo');
const SUBSCRIPTION_ID = keyOf('subscriptionId');

/** Members of `_meta` that belong to one hop. What a client wrote in them must not reach a server. */
const HOP_KEYS: ReadonlySet<string> = new Set([
  ...['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel', 'subscriptionId'].map(keyOf),
  'progressToken',
]);

/** Whether a member of `_meta` says something of one request, so that it differs when the request is repeated. */
export const isHopKey = (key: string): boolean =>
  HOP_KEYS.has(key) || (TRACE_KEYS as readonly string[]).includes(key);

/** What a server may know of the client for whom a request is made. */
export interface RequestEnvelope {
  /** The text of the constant members: `envelopeMembers`. */
  readonly members: string;
  readonly logLevel?: LoggingLevel | undefined;
  /** Set when the server may report progress. */
  readonly progressToken?: number | undefined;
}

/** The members of the envelope that are the same for all requests of one client. */
export function envelopeMembers(clientInfo: Implementation, capabilities: ClientCapabilities): string {
  const { roots, sampling, elicitation, extensions } = capabilities;
  const ui = extensions?.[FORWARDED_EXTENSION];
  const forwarded = {
    ...(roots && { roots: {} }),
    ...(sampling && { sampling }),
    ...(elicitation && { elicitation }),
    ...(ui && { extensions: { [FORWARDED_EXTENSION]: ui } }),
  };
  return [
    memberOf('protocolVersion', MODERN_VERSION),
    memberOf('clientInfo', clientInfo),
    memberOf('clientCapabilities', forwarded),
  ].join(',');
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

/** The name and version of the server in a result; undefined if the server does not say it. */
export function serverInfoIn(meta: unknown): Implementation | undefined {
  const info = (meta as Readonly<Record<string, Implementation | undefined>> | undefined)?.[SERVER_INFO];
  return typeof info?.name === 'string' && typeof info.version === 'string' ? info : undefined;
}

/** The id of the request `subscriptions/listen` that a notification belongs to. */
export function subscriptionIdIn({ _meta: meta }: Params): unknown {
  return isJsonObject(meta) ? meta[SUBSCRIPTION_ID] : undefined;
}

const memberOf = (name: string, value: unknown): string => `"${keyOf(name)}":${JSON.stringify(value)}`;

function textOf({ members, logLevel, progressToken }: RequestEnvelope): string {
  let text = members;
  if (logLevel !== undefined) text += `,${memberOf('logLevel', logLevel)}`;
  if (progressToken !== undefined) text += `,"progressToken":${progressToken}`;
  return text;
}

const merge = (own: string, meta: string): string => prepend(own, withoutMembers(meta, HOP_KEYS));

/** The object's text with these members before its own. */
function prepend(members: string, object: string): string {
  const rest = object.slice(1).trimStart();
  return rest === '}' ? `{${members}}` : `{${members},${rest}`;
}
