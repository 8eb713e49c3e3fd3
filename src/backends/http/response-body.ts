import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { TransportError } from '../link/transport.js';

/** How the body of one response is read. */
export interface ResponseBody {
  /** A pause in it means that it will not go on; events may come whenever they like. */
  readonly mustFlow: boolean;
  push(chunk: Buffer): void;
  end(): void;
  /** It broke off. */
  cut(fault: TransportError): void;
  /** Lets go of whatever it started itself. */
  stop?(): void;
}

/** What a body may do with the exchange it belongs to. */
export interface OpenExchange {
  readonly requestId: RequestId | undefined;
  /** Hands over what the text holds; true when the answer was in it. Text that is no JSON fails the exchange. */
  deliver(text: string): boolean;
  /** The answer is there, and the server may end the response in its own time. */
  linger(): void;
  succeed(): void;
  fail(error: TransportError): void;
}
