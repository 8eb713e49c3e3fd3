import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { detachPart, JsonText, memberText } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

export type Params = Readonly<Record<string, unknown>>;

/** One received JSON-RPC message. The texts are slices of what the sender wrote. */
export type Inbound =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: Params | undefined;
      readonly paramsText: string | undefined;
    }
  | {
      readonly kind: 'notification';
      readonly method: string;
      readonly params: Params | undefined;
      readonly paramsText: string | undefined;
    }
  | {
      readonly kind: 'response';
      readonly id: RequestId;
      readonly outcome: 'result' | 'error';
      /** The result or error, parsed and as it was written. */
      readonly value: unknown;
      readonly text: string;
    }
  | { readonly kind: 'invalid'; readonly id: RequestId | undefined; readonly problem: string };

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** The only check that a transport makes; `readMessage` validates the rest. */
export const isMessage = (value: unknown): value is JSONRPCMessage =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';

export const isResponseTo = (message: JSONRPCMessage, requestId: RequestId | undefined): boolean =>
  requestId !== undefined && ('result' in message || 'error' in message) && message.id === requestId;

/** Classifies and validates one message; `text` is the text that `message` was parsed from. */
export function readMessage(message: unknown, text: string): Inbound {
  if (!isJsonObject(message)) return invalid(undefined, 'a message must be an object');
  const { id, method, params } = message;
  const validId = isRequestId(id) ? id : undefined;
  if (message['jsonrpc'] !== '2.0') return invalid(validId, 'jsonrpc must be "2.0"');
  if (method === undefined) return readResponse(message, text);
  if (typeof method !== 'string') return invalid(validId, 'method must be a string');
  if (params !== undefined && !isJsonObject(params)) return invalid(validId, 'params must be an object');
  const paramsText = params && memberText(text, 'params');
  if (id === undefined) return { kind: 'notification', method, params, paramsText };
  if (validId === undefined) return invalid(undefined, 'id must be a string or an integer');
  return { kind: 'request', id: validId, method, params, paramsText };
}

function readResponse(message: Record<string, unknown>, text: string): Inbound {
  const { id, result, error } = message;
  if (!isRequestId(id)) return invalid(undefined, 'id must be a string or an integer');
  if (result !== undefined && error === undefined)
    return {
      kind: 'response',
      id,
      outcome: 'result',
      value: result,
      text: detachPart(text, memberText(text, 'result') ?? 'null'),
    };
  if (isJsonObject(error) && result === undefined)
    return {
      kind: 'response',
      id,
      outcome: 'error',
      value: error,
      text: memberText(text, 'error') ?? 'null',
    };
  return invalid(id, 'a message must be a request, a notification or a response');
}

const invalid = (id: RequestId | undefined, problem: string): Inbound => ({ kind: 'invalid', id, problem });

/** For numbers, String() is three times as fast as JSON.stringify. */
const idText = (id: RequestId): string => (typeof id === 'number' ? String(id) : JSON.stringify(id));

const textOf = (value: unknown): string => (value instanceof JsonText ? value.text : JSON.stringify(value));

export const resultMessage = (id: RequestId, result: unknown): string =>
  `${resultHead(id)}${textOf(result ?? {})}}`;

/** The text of the message up to its result. The result and one closing brace complete it. */
export const resultHead = (id: RequestId): string => `{"jsonrpc":"2.0","id":${idText(id)},"result":`;

/** `error` is the JSON text of the error object. Without an id, the message has no `id` member. */
export const errorMessage = (id: RequestId | undefined, error: string): string =>
  id === undefined
    ? `{"jsonrpc":"2.0","error":${error}}`
    : `{"jsonrpc":"2.0","id":${idText(id)},"error":${error}}`;

export const requestMessage = (id: RequestId, method: string, params: string | undefined): string =>
  `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)}${paramsPart(params)}}`;

export const notificationMessage = (method: string, params: string | undefined): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${paramsPart(params)}}`;

const paramsPart = (params: string | undefined): string =>
  params === undefined ? '' : `,"params":${params}`;
