import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { MemoryLimit } from '../core/memory-limits.js';
import type { JsonDocument } from '../lib/json-text/json-document.js';
import type { JsonProblem } from '../lib/json-text/json-reader.js';
import { JsonText, MAX_EAGER_LENGTH, type Member } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

export type Params = Readonly<Record<string, unknown>>;

/** The params of a message, parsed and as the sender wrote them. */
interface InboundParams {
  readonly params: Params | undefined;
  readonly paramsText: string | undefined;
  /**
   * The positions of the members in `paramsText`, so that they need not be found again. Short params have none if they are
   * those of a notification, or have more than `MAX_KEPT_MEMBERS` members.
   */
  readonly paramsMembers?: readonly Member[] | undefined;
  /** Present for long params only: their bytes, which the first access to `paramsText` or `paramsMembers` decodes. */
  readonly paramsJson?: JsonText;
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

/** Whether the message is the response to this request. False if `requestId` is undefined. */
export const isResponseTo = (message: JSONRPCMessage, requestId: RequestId | undefined): boolean =>
  requestId !== undefined && ('result' in message || 'error' in message) && message.id === requestId;

/** Classifies and validates one message. A message that is not valid JSON-RPC has the kind `invalid`. */
export function readMessage(document: JsonDocument): Inbound {
  const message = document.kind === 'object' ? document.value : undefined;
  if (!isJsonObject(message)) return invalid(undefined, 'a message must be an object');
  const { id, method, params } = message;
  const validId = isRequestId(id) ? id : undefined;
  if (message['jsonrpc'] !== '2.0') return invalid(validId, 'jsonrpc must be "2.0"');
  if (method === undefined) return readResponse(message, document);
  if (typeof method !== 'string') return invalid(validId, 'method must be a string');
  if (params !== undefined && !isJsonObject(params)) return invalid(validId, 'params must be an object');
  const paramsJson = params && document.indexedMember('params');
  if (paramsJson && isTooWide(paramsJson)) return invalid(validId, TOO_WIDE);
  if (id !== undefined && validId === undefined) return invalidId(id, document);
  if (paramsJson?.isLongObject) return longMessage(validId, method, params, paramsJson);
  const paramsText = paramsJson?.text;
  if (validId === undefined) return { kind: 'notification', method, params, paramsText };
  const paramsMembers = keptMembersOf(paramsJson);
  return { kind: 'request', id: validId, method, params, paramsText, paramsMembers };
}

/**
 * The members of short params; undefined if there are more than `MAX_KEPT_MEMBERS`. They stay in memory with the request, and
 * many of them would take more memory than the text of the params.
 */
function keptMembersOf(params: JsonText | undefined): readonly Member[] | undefined {
  const members = params?.members;
  return members && members.length <= MAX_KEPT_MEMBERS ? members : undefined;
}

const MAX_KEPT_MEMBERS = 32;

/** A request or notification with long params, which are decoded only if they are read as text. */
function longMessage(
  id: RequestId | undefined,
  method: string,
  params: Params | undefined,
  paramsJson: JsonText,
): Inbound {
  const message = {
    method,
    params,
    paramsJson,
    get paramsText() {
      return paramsJson.text;
    },
    get paramsMembers() {
      return paramsJson.members;
    },
  };
  return Object.assign(
    message,
    id === undefined ? { kind: 'notification' as const } : { kind: 'request' as const, id },
  );
}

/**
 * Whether finding the members of the object would take too long: its text is long, and the scanner has not recorded the
 * positions, because there are too many members.
 */
const isTooWide = (json: JsonText): boolean =>
  !json.isIndexed && json.text.length > MAX_UNINDEXED_LENGTH && json.isObject;

/** Maximum length of an object without recorded positions. Finding its members takes some 20 ms for each megabyte. */
const MAX_UNINDEXED_LENGTH = 256 * 1024;
const TOO_WIDE = `params, result or error has too many members and is longer than ${MAX_UNINDEXED_LENGTH} characters`;

function readResponse(message: Record<string, unknown>, document: JsonDocument): Inbound {
  const { id, result, error } = message;
  if (!isRequestId(id)) return invalidId(id, document);
  const json = document.member(error === undefined ? 'result' : 'error');
  if (json && isTooWide(json)) return invalid(id, TOO_WIDE);
  if (json && result !== undefined && error === undefined)
    return { kind: 'response', id, outcome: 'result', json };
  if (json && isJsonObject(error) && result === undefined)
    return { kind: 'response', id, outcome: 'error', json };
  return invalid(id, 'a message must be a request, a notification or a response');
}

function invalidId(id: unknown, document: JsonDocument): Inbound {
  // A document reads a string longer than MAX_EAGER_LENGTH as null.
  const isLongString = id === null && document.memberLength('id') > MAX_EAGER_LENGTH;
  if (typeof id !== 'string' && !isLongString) return invalid(undefined, 'id must be a string or an integer');
  return {
    kind: 'invalid',
    id: undefined,
    problem: `id must not be longer than ${MAX_ID_LENGTH} characters`,
    memoryLimit: 'message-id',
  };
}

const invalid = (id: RequestId | undefined, problem: string): Inbound => ({ kind: 'invalid', id, problem });

/** The id of a message with a problem. Undefined if the message has no valid id, or was not read up to its id. */
export function requestIdIn({ document }: Pick<JsonProblem, 'document'>): RequestId | undefined {
  const message = document?.kind === 'object' ? document.value : undefined;
  const id = isJsonObject(message) ? message['id'] : undefined;
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

/** The parts of a request, with params that are encoded already. */
export const requestParts = (id: RequestId, method: string, params: Buffer): readonly Buffer[] => [
  Buffer.from(`{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)},"params":`),
  params,
  Buffer.from('}'),
];

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
