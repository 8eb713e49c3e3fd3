import type { Message } from '../events.js';
import { deferred, type Deferred } from '../until.js';

/** One connection of the gateway to a scripted server: a process, or an HTTP session. */
export abstract class ScriptedLink {
  isOpen = true;
  private readonly pendingRequests = new Map<string, Deferred<Message>>();
  private readonly openCalls = new Map<unknown, () => void>();
  private lastId = 0;

  /** The process, and the one it started. Undefined over HTTP. */
  abstract readonly pid: number | undefined;
  abstract readonly grandchild: number | undefined;

  /** Sends a message outside any request. */
  abstract send(text: string): void;

  /** Closes the link. */
  abstract close(): void;

  /** Sends a request to the gateway; `send` selects the stream. */
  async sendRequest(
    method: string,
    params: object,
    send = (text: string) => this.send(text),
  ): Promise<Message> {
    const id = `request-${++this.lastId}`;
    const answer = deferred<Message>();
    this.pendingRequests.set(id, answer);
    send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return answer.promise;
  }

  answered(message: Message): void {
    this.pendingRequests.get(String(message.id))?.resolve(message);
  }

  /** `cancel` is called when the gateway cancels the request. */
  began(id: unknown, cancel: () => void): void {
    this.openCalls.set(id, cancel);
  }

  ended(id: unknown): void {
    this.openCalls.delete(id);
  }

  cancelled(id: unknown): void {
    this.openCalls.get(id)?.();
  }

  closed(): void {
    this.isOpen = false;
    for (const cancel of this.openCalls.values()) cancel();
  }
}
