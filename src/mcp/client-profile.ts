import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import { GatewayError, type ErrorKind } from '../core/errors.js';
import { MemoryLimitError } from '../core/memory-limits.js';
import type { JsonDocument } from '../lib/json-text/json-document.js';
import { memberText } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Inbound, Params } from './json-rpc.js';

/** Maximum size of `capabilities` and `clientInfo` together. They stay in memory until the session or the request ends. */
export const MAX_PROFILE_BYTES = 16_384;

/**
 * Longer params of `initialize` are refused without being read. Their other members are short, so only `capabilities` and
 * `clientInfo` that are too large can make the params so long.
 */
const MAX_INITIALIZE_PARAMS_LENGTH = 8 * MAX_PROFILE_BYTES;

const PROFILE_KEYS = ['capabilities', 'clientInfo'];

/** Maximum characters of a client's name and version in logs. */
const MAX_LABEL_LENGTH = 64;

/** How a client described itself: in `initialize`, or in the envelope of a request. */
export interface ClientProfile {
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
}

export const isInitialize = (message: Inbound): message is Extract<Inbound, { kind: 'request' }> =>
  message.kind === 'request' && message.method === 'initialize';

/** Whether the message is an `initialize` whose params are too long to be read. Checked before the params are decoded. */
export const isLongInitialize = (message: JsonDocument): boolean =>
  message.memberLength('params') > MAX_INITIALIZE_PARAMS_LENGTH &&
  message.memberText('method') === '"initialize"';

/** The profile in the params of `initialize`. Throws when it is invalid or too large. */
export function readClientProfile(params: Params | undefined, paramsText: string | undefined): ClientProfile {
  const capabilities = params?.['capabilities'];
  if (!isJsonObject(capabilities)) throw new GatewayError('invalid-params', 'capabilities must be an object');
  if (bytesOfMembers(paramsText ?? '{}', PROFILE_KEYS) > MAX_PROFILE_BYTES) throw profileTooLarge();
  return { capabilities, clientInfo: params?.['clientInfo'] as Implementation | undefined };
}

export const profileTooLarge = (kind: ErrorKind = 'invalid-params'): MemoryLimitError =>
  new MemoryLimitError(
    'client-profile',
    MAX_PROFILE_BYTES,
    `capabilities and clientInfo must not be larger than ${MAX_PROFILE_BYTES} bytes together`,
    kind,
  );

/** Name and version of a client for logs, shortened; undefined when it sent no name. */
export function clientLabel(clientInfo: unknown): string | undefined {
  if (!isJsonObject(clientInfo) || typeof clientInfo['name'] !== 'string') return undefined;
  const { name, version } = clientInfo;
  return `${name} ${typeof version === 'string' ? version : ''}`.slice(0, MAX_LABEL_LENGTH).trimEnd();
}

/** The size of the values under these keys together. `object` is the JSON text of an object. */
export const bytesOfMembers = (object: string, keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + Buffer.byteLength(memberText(object, key) ?? ''), 0);
