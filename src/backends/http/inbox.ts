import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { LinkTransport } from '../link/transport.js';
import { brokenError } from '../link/link-faults.js';

/** Batches belong to the revision 2025-03-26 only; nobody sends long ones. */
const LONGEST_BATCH = 1000;

/** Hands what arrived to the owner of the transport. A handler that throws is reported and harms no stream. */
export class Inbox {
  constructor(private readonly owner: Pick<LinkTransport, 'onmessage' | 'onerror'>) {}

  /**
   * Whether the answer to `requestId` was in the text. Throws where the text is not JSON; an object that is no
   * message is passed over, because some servers replay the mark of a stream's beginning as `{}`.
   */
  deliver(text: string, requestId?: RequestId): boolean {
    const value = parse(text);
    if (Array.isArray(value)) return this.deliverBatch(value, requestId);
    return isMessage(value) && this.hand(value, text, requestId);
  }

  private hand(message: JSONRPCMessage, text: string, requestId?: RequestId): boolean {
    const received = requestId === undefined ? { text } : { text, requestId };
    this.guard(() => this.owner.onmessage?.(message, received));
    return isAnswer(message, requestId);
  }

  guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.report(error);
    }
  }

  report(error: unknown): void {
    try {
      this.owner.onerror?.(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // The one place to tell has failed as well.
    }
  }

  private deliverBatch(values: readonly unknown[], requestId: RequestId | undefined): boolean {
    if (values.length > LONGEST_BATCH)
      throw brokenError(`the server sent a batch of ${values.length} messages`);
    let answered = false;
    for (const value of values) {
      if (isMessage(value) && this.hand(value, JSON.stringify(value), requestId)) answered = true;
    }
    return answered;
  }
}

export function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

export function isAnswer(message: JSONRPCMessage, requestId: RequestId | undefined): boolean {
  return requestId !== undefined && ('result' in message || 'error' in message) && message.id === requestId;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw brokenError('the server sent what is not JSON', { cause });
  }
}
