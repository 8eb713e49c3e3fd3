import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { TransportError } from '../link/transport.js';
import { isAnswer, isMessage } from './inbox.js';
import { BoundedBuffer } from '../../lib/bounded-buffer/bounded-buffer.js';
import type { OpenExchange, ResponseBody } from './response-body.js';

const MOST_BYTES = 64 * 1024;

/** The body of an HTTP error. Many servers put the JSON-RPC error there that is the answer to the request. */
export class ErrorBody implements ResponseBody {
  readonly mustFlow = true;
  private readonly bytes = new BoundedBuffer(MOST_BYTES);

  constructor(
    private readonly exchange: OpenExchange,
    private readonly error: TransportError,
  ) {}

  push(chunk: Buffer): void {
    if (!this.bytes.append(chunk)) this.exchange.fail(this.error);
  }

  end(): void {
    const text = this.bytes.take().toString();
    if (holdsAnswer(text, this.exchange.requestId) && this.exchange.deliver(text)) this.exchange.succeed();
    else this.exchange.fail(this.error);
  }

  cut(): void {
    this.exchange.fail(this.error);
  }
}

function holdsAnswer(text: string, requestId: RequestId | undefined): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) && isErrorOf(value, requestId);
  } catch {
    return false;
  }
}

const isErrorOf = (message: JSONRPCMessage, requestId: RequestId | undefined): boolean =>
  'error' in message && isAnswer(message, requestId);
