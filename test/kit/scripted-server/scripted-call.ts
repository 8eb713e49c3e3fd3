import type { Message } from '../events.js';
import type { ScriptedLink } from './scripted-link.js';
import { deferred } from '../until.js';

/** One request or notification that a scripted server has received. */
export class ScriptedCall {
  /** Resolves when the request was answered or cancelled. */
  readonly ended: Promise<void>;
  isCancelled = false;
  private readonly end: () => void;

  constructor(
    readonly message: Message,
    /** The whole message as received. */
    readonly text: string,
    readonly link: ScriptedLink,
    private readonly sendOnStream: (text: string) => void,
  ) {
    const { promise, resolve } = deferred();
    this.ended = promise;
    this.end = resolve;
    link.began(message.id, () => {
      this.isCancelled = true;
      this.end();
    });
  }

  get method(): string {
    return this.message.method!;
  }

  get params(): Record<string, unknown> {
    return this.message.params ?? {};
  }

  get args(): Record<string, unknown> {
    return (this.params['arguments'] ?? {}) as Record<string, unknown>;
  }

  notify(method: string, params: object): void {
    this.sendOnStream(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  progress(progress: number, total?: number): void {
    const meta = this.params['_meta'] as { progressToken?: unknown } | undefined;
    this.notify('notifications/progress', { progressToken: meta?.progressToken, progress, total });
  }

  /** Sends a request to the client of the call. */
  sendRequest(method: string, params: object): Promise<Message> {
    return this.link.sendRequest(method, params, this.sendOnStream);
  }

  /** `outcome` is the member with the result or the error, as text. */
  answer(outcome: string): void {
    this.link.ended(this.message.id);
    this.end();
    if (!this.isCancelled)
      this.sendOnStream(`{"jsonrpc":"2.0","id":${JSON.stringify(this.message.id)},${outcome}}`);
  }
}
