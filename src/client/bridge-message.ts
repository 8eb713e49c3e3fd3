import { isJsonObject, tryParseJson } from '../lib/json-text/json-value.js';

type MessageId = string | number;

/** The parts of a message, or of a batch of messages, that the bridge reads. The message itself is forwarded as text. */
export interface BridgeMessage {
  /** The ids of the requests. A single message has at most one. */
  readonly requests: readonly MessageId[];
  /** The ids of the responses. */
  readonly responses: readonly MessageId[];
  /** The method of a single message; undefined for a batch of several. */
  readonly method: string | undefined;
  /** The `result` of the first message. */
  readonly result: unknown;
  /** The `uri` in the params of the first message. */
  readonly uri: string | undefined;
}

/** Where the bridge writes messages for the client. */
export interface BridgeOutput {
  /** Resolves when the client can take more messages. */
  write(line: string): Promise<void>;
  /** Writes a line for the log of the client. */
  note(text: string): void;
}

/** Undefined for a text that is not JSON. */
export function readBridgeMessage(text: string): BridgeMessage | undefined {
  const value = tryParseJson(text);
  if (value === undefined) return undefined;
  const messages = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(isJsonObject);
  const [first] = messages;
  const params = first?.['params'];
  const uri = isJsonObject(params) ? params['uri'] : undefined;
  return {
    requests: idsOf(messages.filter((message) => 'method' in message)),
    responses: idsOf(messages.filter((message) => !('method' in message))),
    method: messages.length === 1 && typeof first?.['method'] === 'string' ? first['method'] : undefined,
    result: first?.['result'],
    uri: typeof uri === 'string' ? uri : undefined,
  };
}

const idsOf = (messages: readonly Readonly<Record<string, unknown>>[]): MessageId[] =>
  messages.map(({ id }) => id).filter((id) => typeof id === 'string' || typeof id === 'number');

export interface BridgeError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const errorResponse = (id: MessageId | null, error: BridgeError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error });

/** The error of a refused HTTP request: the JSON-RPC error in its body, or an error that names the status. */
export function refusalIn(status: number, body: string): BridgeError {
  const value = tryParseJson(body);
  if (isJsonObject(value) && isJsonObject(value['error'])) return value['error'] as unknown as BridgeError;
  return { code: -32000, message: `the gateway responded with status ${status}` };
}
