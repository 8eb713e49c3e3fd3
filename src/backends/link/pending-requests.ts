import { randomInt } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { IdTable } from '../../lib/id-table/id-table.js';
import { progressTokenOf } from '../../mcp/progress-token.js';
import type { Caller, ClientSession } from '../../mcp/mcp-context.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { LinkRequest } from './link.js';

/** Progress and open questions keep a request alive, but for no longer than this many times its timeout. */
const MAX_TIMEOUT_FACTOR = 10;

/** A request that has been sent and not been answered. */
export interface PendingRequest {
  /** Ours, not the client's; also the progress token we send. */
  readonly id: number;
  readonly request: LinkRequest;
  /** The client's own progress token, as it wrote it. */
  readonly clientToken: string | undefined;
  readonly resolve: (result: JsonText) => void;
  readonly reject: (error: Error) => void;
  readonly onAbort: () => void;
  readonly latestDeadline: number;
  deadline: number;
}

/** Why a request is given up before its answer. */
export type AbandonReason = 'cancelled' | 'timeout';

/** Where something a server says comes from, as far as that can be told. */
export interface MessageOrigin {
  /** The calls it may belong to, all of one client. */
  readonly callers: readonly Caller[];
  /** It belongs to a call, and there is no telling whose. */
  readonly ambiguous: boolean;
}

const OF_NO_CALL: MessageOrigin = { callers: [], ambiguous: false };
const OF_ANY_CALL: MessageOrigin = { callers: [], ambiguous: true };

/** The unanswered requests of one link: who waits, for how long, and for whom. */
export class PendingRequests {
  /**
   * Not from 1: what a client could guess, it could send as the progress token of another's call. Not from far above
   * either: V8 writes a small integer as text in a fraction of the time.
   */
  private readonly byId = new IdTable<PendingRequest>(randomInt(2 ** 30));
  /** Given up, but the server may still be at them, and what it says of them is for their client alone. */
  private readonly abandoned = new Map<number, { readonly client: ClientSession; readonly until: number }>();
  private readonly deadlines: Deadlines<PendingRequest>;
  private resolveEmpty: () => void = () => {};

  constructor(
    private readonly giveUp: (pending: PendingRequest, why: AbandonReason) => void,
    /** Whether the client behind a call has been asked something and not answered yet. */
    private readonly isAsked: (caller: Caller) => boolean,
  ) {
    this.deadlines = new Deadlines(
      () => this.byId,
      (pending) => this.expire(pending),
    );
  }

  open(
    request: LinkRequest,
    resolve: PendingRequest['resolve'],
    reject: PendingRequest['reject'],
  ): PendingRequest {
    const now = performance.now();
    const pending: PendingRequest = {
      id: this.byId.nextId(),
      request,
      resolve,
      reject,
      onAbort: () => this.giveUp(pending, 'cancelled'),
      clientToken: progressTokenOf(request.params),
      deadline: now + request.timeoutMs,
      latestDeadline: now + request.timeoutMs * MAX_TIMEOUT_FACTOR,
    };
    this.byId.add(pending);
    request.caller?.signal.addEventListener('abort', pending.onAbort, { once: true });
    this.deadlines.watch(pending.deadline);
    return pending;
  }

  get(id: unknown): PendingRequest | undefined {
    return this.byId.get(id);
  }

  /** Releases everything a request holds; false when that was done before. */
  remove(pending: PendingRequest): boolean {
    if (!this.byId.delete(pending.id)) return false;
    pending.request.caller?.signal.removeEventListener('abort', pending.onAbort);
    if (this.byId.size === 0) this.resolveEmpty();
    return true;
  }

  /** Nobody waits for it any more. Its server may take as long again to notice; one that obeys never answers. */
  abandon({ id, request: { caller, timeoutMs } }: PendingRequest): void {
    this.removeExpired();
    if (caller) this.abandoned.set(id, { client: caller.session, until: performance.now() + timeoutMs });
  }

  /** The server is done with a request, whether or not somebody still waits. */
  answered(id: unknown): void {
    this.abandoned.delete(id as number);
  }

  /** Resolves when nobody waits any more. */
  whenEmpty(): Promise<void> {
    if (this.byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.resolveEmpty = resolve));
  }

  /** Progress was made: the timeout starts again, up to the latest deadline. */
  extendDeadline(pending: PendingRequest): void {
    pending.deadline = Math.min(performance.now() + pending.request.timeoutMs, pending.latestDeadline);
  }

  extendDeadlines(callers: ReadonlySet<Caller>): void {
    for (const pending of this.byId) {
      if (pending.request.caller && callers.has(pending.request.caller)) this.extendDeadline(pending);
    }
  }

  /** Whose message this is: of the request on whose stream it came, else of the only client it can be for. */
  origin(streamOf: RequestId | undefined): MessageOrigin {
    if (streamOf !== undefined) return originOf(this.get(streamOf));
    if (this.byId.size === 0 && this.abandoned.size === 0) return OF_NO_CALL;
    const found: { readonly id: number; readonly caller: Caller }[] = [];
    for (const { id, request } of this.byId) {
      const { caller } = request;
      if (!caller) continue;
      if (found[0] && found[0].caller.session !== caller.session) return OF_ANY_CALL;
      found.push({ id, caller });
    }
    this.removeExpired();
    // The table has no order, and the latest call comes last.
    const callers = found.toSorted((a, b) => a.id - b.id).map(({ caller }) => caller);
    for (const { client } of this.abandoned.values()) if (client !== callers[0]?.session) return OF_ANY_CALL;
    return { callers, ambiguous: false };
  }

  /** Empties the table and returns what was in it. */
  removeAll(): PendingRequest[] {
    this.deadlines.stop();
    const abandoned = [...this.byId];
    for (const pending of abandoned) this.remove(pending);
    return abandoned;
  }

  private removeExpired(): void {
    const now = performance.now();
    for (const [id, { until }] of this.abandoned) {
      if (until > now) return;
      this.abandoned.delete(id);
    }
  }

  private expire(pending: PendingRequest): void {
    const { caller } = pending.request;
    // While the server waits for the client, it does not keep us waiting.
    if (caller && pending.deadline < pending.latestDeadline && this.isAsked(caller))
      this.extendDeadline(pending);
    else this.giveUp(pending, 'timeout');
  }
}

function originOf(pending: PendingRequest | undefined): MessageOrigin {
  // The request is over and forgotten: whose it was cannot be told any more.
  if (!pending) return OF_ANY_CALL;
  const { caller } = pending.request;
  return caller ? { callers: [caller], ambiguous: false } : OF_NO_CALL;
}
