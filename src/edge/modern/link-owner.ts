import { SESSIONLESS_CAPABILITIES } from '../../backends/link/link-factory.js';
import { GatewayError } from '../../core/errors.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';
import { INPUT_METHODS } from '../../mcp/input-required.js';
import type { Channel, ClientRequestOptions, ClientSession } from '../../mcp/mcp-context.js';
import type { Principal } from '../../mcp/principal.js';
import { MAX_QUESTIONS } from './parkable-call.js';

/** How long a question that belongs to no call waits for a call in which the client can be asked. */
const CALL_WAIT_MS = 30_000;

interface OwningRequest extends Channel {
  readonly method: string;
  /** Whether its client has been asked, and has not answered yet. */
  readonly isParked: boolean;
}

type Wait = (request: OwningRequest | undefined) => void;

/**
 * Stands for the requests of one principal, or of one handle of it, as the owner of links that are not shared: revision
 * 2026-07-28 has no sessions. What the server sends outside of a call goes to the request that runs, if only one runs.
 */
export class LinkOwner implements ClientSession {
  readonly capabilities = SESSIONLESS_CAPABILITIES;
  isClosed = false;
  private readonly requests = new Set<OwningRequest>();
  private readonly waits = new Set<Wait>();
  private readonly closeListeners = new ListenerSet();
  private lastUsedAt = performance.now();

  constructor(
    readonly id: string,
    public principal: Principal,
    readonly quotaKey: string,
    /** Whether the client said that its requests belong together. */
    readonly hasHandle: boolean,
  ) {}

  begin(request: OwningRequest): void {
    this.requests.add(request);
    if (!INPUT_METHODS.has(request.method)) return;
    for (const wait of this.waits) wait(request);
  }

  end(request: OwningRequest): void {
    this.requests.delete(request);
    this.lastUsedAt = performance.now();
  }

  /** Whether no request has run for this long. */
  isIdleFor(ms: number): boolean {
    return this.requests.size === 0 && performance.now() - this.lastUsedAt >= ms;
  }

  notify(method: string, params: JsonText | undefined): void {
    this.requestOf([...this.requests])?.notify(method, params);
  }

  async sendRequest(
    method: string,
    params: JsonText | undefined,
    options: ClientRequestOptions,
  ): Promise<JsonText> {
    const askable = [...this.requests].filter((request) => INPUT_METHODS.has(request.method));
    const request = askable.length > 0 ? this.requestOf(askable) : await this.nextRequest(options.signal);
    if (!request)
      throw new GatewayError('internal', `${method}: it is not known in which call the client can be asked`);
    return request.sendRequest(method, params, options);
  }

  onClose(listener: () => void): () => void {
    if (this.isClosed) listener();
    return this.closeListeners.add(listener);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const wait of this.waits) wait(undefined);
    this.closeListeners.emit();
  }

  /**
   * Without a handle, several requests may be of several clients. A parked one counts only if no other runs: its server waits
   * for an answer, which may never come.
   */
  private requestOf(requests: readonly OwningRequest[]): OwningRequest | undefined {
    const unparked = requests.filter(({ isParked }) => !isParked);
    const likely = unparked.length > 0 ? unparked : requests;
    return this.hasHandle || likely.length === 1 ? likely.at(-1) : undefined;
  }

  private nextRequest(signal: CancelSignal): Promise<OwningRequest | undefined> {
    if (this.isClosed || signal.aborted || this.waits.size >= MAX_QUESTIONS)
      return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const cancel = (): void => wait(undefined);
      const wait: Wait = (request) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        this.waits.delete(wait);
        resolve(request);
      };
      const timer = setTimeout(cancel, CALL_WAIT_MS).unref();
      signal.addEventListener('abort', cancel, { once: true });
      this.waits.add(wait);
    });
  }
}
