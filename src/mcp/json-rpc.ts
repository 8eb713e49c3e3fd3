import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { MemoryLimit } from '../core/memory-limits.js';
import type { JsonDocument } from '../lib/json-text/json-document.js';
import type { JsonProblem } from '../lib/json-text/json-reader.js';
import { JsonText, MAX_EAGER_LENGTH, type Member } from '../lib/json-text/json-text.js';
import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';

export type Params = Readonly<Record<string, unknown>>;

/** The params of a message, parsed and as the sender wrote them. */
interface InboundParams {
  readonly params: Params | undefined;
  readonly paramsText: string | undefined;
  /** The positions of the members in a long text, so that they need not be found again. */
  readonly paramsMembers?: readonly Member[];
}

/** One received JSON-RPC message. The texts are slices of what the sender wrote. */
export type Inbound =
  | ({ readonly kind: 'request'; readonly id: RequestId; readonly method: string } & InboundParams)
  | ({ readonly kind: 'notification'; readonly method: string } & InboundParams)
  | {
      readonly kind: 'response';
      readonly id: RequestId;
      readonly outcome: 'result' | 'error';
      /** The result or error. */
      readonly json: JsonText;
    }
  | {
      readonly kind: 'invalid';
      readonly id: RequestId | undefined;
      readonly problem: string;
      readonly memoryLimit?: MemoryLimit;
    };

/** Maximum characters of the id of a request, which is stored until the response. */
export const MAX_ID_LENGTH = 1024;

export function isRequestId(value: unknown): value is RequestId {
  if (typeof value === 'string') return value.length <= MAX_ID_LENGTH;
  return typeof value === 'number' && Number.isSafeInteger(value);
}

/** The only check that a transport makes. `readMessage` validates everything else. */
export const isMessage = (value: unknown): value is JSONRPCMessage =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';

export const isResponseTo = (message: JSONRPCMessage, requestId: RequestId | undefined): boolean =>
  requestId !== undefined && ('result' in message || 'error' in message) && message.id === requestId;

/** Classifies and validates one message. */
export function readMessage(document: JsonDocument): Inbound {
  const message = document.kind === 'object' ? document.value : undefined;
  if (!isJsonObject(message)) return invalid(undefined, 'a message must be an object');
  const { id, method, params } = message;
  const validId = isRequestId(id) ? id : undefined;
  if (message['jsonrpc'] !== '2.0') return invalid(validId, 'jsonrpc must be "2.0"');
  if (method === undefined) return readResponse(message, document);
  if (typeof method !== 'string') return invalid(validId, 'method must be a string');
  if (params !== undefined && !isJsonObject(params)) return invalid(validId, 'params must be an object');
  const json = params && document.member('params');
  if (json && isTooWide(json)) return invalid(validId, TOO_WIDE);
  const paramsText = json?.text;
  if (id === undefined) return withMembers({ kind: 'notification', method, params, paramsText }, json);
  if (validId === undefined) return invalidId(id);
  return withMembers({ kind: 'request', id: validId, method, params, paramsText }, json);
}

/** Adds the positions of the members of long params. */
const withMembers = (
  message: Extract<Inbound, { kind: 'request' | 'notification' }>,
  json: JsonText | undefined,
): Inbound =>
  json && json.text.length > MAX_EAGER_LENGTH ? { ...message, paramsMembers: json.members } : message;

/** Whether finding the members would take too long: the text is long, and the positions of its members are not known. */
const isTooWide = (json: JsonText): boolean =>
  !json.isIndexed && json.text.length > MAX_UNINDEXED_LENGTH && json.isObject;

const MAX_UNINDEXED_LENGTH = 4 * 1024 * 1024;
const TOO_WIDE = `params, result or error has too many members and is longer than ${MAX_UNINDEXED_LENGTH} characters`;

function readResponse(message: Record<string, unknown>, document: JsonDocument): Inbound {
  const { id, result, error } = message;
  if (!isRequestId(id)) return invalidId(id);
  const json = document.member(error === undefined ? 'result' : 'error');
  if (json && isTooWide(json)) return invalid(id, TOO_WIDE);
  if (json && result !== undefined && error === undefined)
    return { kind: 'response', id, outcome: 'result', json };
  if (json && isJsonObject(error) && result === undefined)
    return { kind: 'response', id, outcome: 'error', json };
  return invalid(id, 'a message must be a request, a notification or a response');
}

const invalidId = (id: unknown): Inbound =>
  typeof id === 'string'
    ? {
        kind: 'invalid',
        id: undefined,
        problem: `id must not be longer than ${MAX_ID_LENGTH} characters`,
        memoryLimit: 'message-id',
      }
    : invalid(undefined, 'id must be a string or an integer');

const invalid = (id: RequestId | undefined, problem: string): Inbound => ({ kind: 'invalid', id, problem });

/** The id of a message that was not read; undefined if it has no valid id. */
export function requestIdIn({ document }: Pick<JsonProblem, 'document'>): RequestId | undefined {
  const text = document?.memberText('id');
  const id = text !== undefined && text.length <= MAX_EAGER_LENGTH ? tryParseJson(text) : undefined;
  return isRequestId(id) ? id : undefined;
}

/** For numbers, String() is three times as fast as JSON.stringify. */
const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id));

const textOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value));

export const resultMessage = (id: RequestId, result: unknown): string =>
  `${resultHead(id)}${textOf(result ?? {})}}`;

/** The text of a result message up to its result. The result and one closing brace complete the message. */
export const resultHead = (id: RequestId): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":`;

/** `error` is the JSON text of the error object. Without an id, the message has no `id` member. */
export const errorMessage = (id: RequestId | undefined, error: string): string =>
  id === undefined
    ? `{"jsonrpc":"2.0","error":${error}}`
    : `{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`;

export const requestMessage = (id: RequestId, method: string, params: string | undefined): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${paramsPart(params)}}`;

export const notificationMessage = (method: string, params: string | undefined): string =>
  params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `${notificationHead(method)}${params}}`;

/** The text of a notification up to its params. The params and one closing brace complete the message. */
export const notificationHead = (method: string): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":`;

const paramsPart = (params: string | undefined): string =>
  params === undefined ? '' : `,"params":${params}`;
