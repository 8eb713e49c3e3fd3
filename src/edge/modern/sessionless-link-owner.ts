import { SESSIONLESS_CAPABILITIES } from '../../backends/link/link-factory.js';
import { GatewayError } from '../../core/errors.js';
import type { CancelSignal } from '../../lib/cancellation/cancellation.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { ListenerSet } from '../../lib/listeners/listener-set.js';
import { INPUT_METHODS } from '../../mcp/input-required.js';
import type { Channel, ClientRequestOptions, LinkOwner } from '../../mcp/mcp-context.js';
import type { Principal } from '../../mcp/principal.js';
import { MAX_QUESTIONS } from './parkable-call.js';

/** How long a question that a server asks outside of a call waits for a call in which the client can be asked. */
const CALL_WAIT_MS = 30_000;

interface OwningRequest extends Channel {
  readonly method: string;
  /** Whether the client has been asked a question in this request, and has not answered yet. */
  readonly isParked: boolean;
}

/**
 * Ends the wait of one question. `request` is the request in which the client can be asked; undefined if there is none.
 */
type EndWait = (request: OwningRequest | undefined) => void;

/**
 * Owns links that are not shared, in place of a session, which clients of revision 2026-07-28 do not have. It represents
 * the requests of one principal with the same handle (`SESSION_HANDLE_KEY`), or those without a handle. A message that a
 * server sends outside of a call goes to one of these requests (`requestOf`). Updates and list changes go to the listen
 * streams of the owner.
 */
export class SessionlessLinkOwner implements LinkOwner {
  readonly capabilities = SESSIONLESS_CAPABILITIES;
  isClosed = false;
  private readonly requests = new Set<OwningRequest>();
  private readonly waits = new Set<EndWait>();
  /** The number of listen streams with subscriptions over the links of this owner. */
  private holds = 0;
  private readonly closeListeners = new ListenerSet();
  private lastUsedAt = performance.now();

  constructor(
    readonly id: string,
    public principal: Principal,
    readonly quotaKey: string,
    /** Whether the client has declared with a handle that these requests belong together. */
    readonly hasHandle: boolean,
  ) {}

  /** Adds a running request. If its client can be asked, questions that wait for a request go to this one. */
  begin(request: OwningRequest): void {
    this.requests.add(request);
    if (!INPUT_METHODS.has(request.method)) return;
    for (const endWait of this.waits) endWait(request);
  }

  end(request: OwningRequest): void {
    this.requests.delete(request);
    this.lastUsedAt = performance.now();
  }

  /** Keeps the links open until `release` is called. */
  hold(): void {
    this.holds++;
  }

  release(): void {
    this.holds--;
    this.lastUsedAt = performance.now();
  }

  /** Whether the owner has not been used for this long: by a request, or by a listen stream. */
  isIdleFor(ms: number): boolean {
    const isUsed = this.requests.size > 0 || this.holds > 0;
    return !isUsed && performance.now() - this.lastUsedAt >= ms;
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
    for (const endWait of this.waits) endWait(undefined);
    this.closeListeners.emit();
  }

  /**
   * Chooses the request that passes a message of a server on to its client. A parked request is chosen only if all requests
   * are parked, because its client may never answer. Of several requests, the newest one is chosen if the owner has a
   * handle. Without a handle, none is chosen, because the requests may be of different clients.
   */
  private requestOf(requests: readonly OwningRequest[]): OwningRequest | undefined {
    const unparked = requests.filter(({ isParked }) => !isParked);
    const candidates = unparked.length > 0 ? unparked : requests;
    return this.hasHandle || candidates.length === 1 ? candidates.at(-1) : undefined;
  }

  private nextRequest(signal: CancelSignal): Promise<OwningRequest | undefined> {
    if (this.isClosed || signal.aborted || this.waits.size >= MAX_QUESTIONS)
      return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const cancel = (): void => endWait(undefined);
      const endWait: EndWait = (request) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        this.waits.delete(endWait);
        resolve(request);
      };
      const timer = setTimeout(cancel, CALL_WAIT_MS).unref();
      signal.addEventListener('abort', cancel, { once: true });
      this.waits.add(endWait);
    });
  }
}
