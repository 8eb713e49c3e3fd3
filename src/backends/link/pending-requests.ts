import { randomInt } from 'node:crypto';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { Slots } from '../../lib/queues/slots.js';
import { progressTokenOf } from '../../mcp/progress-token.js';
import type { Caller, McpClient } from '../../mcp/mcp-context.js';
import { Deadlines } from '../../lib/deadlines/deadlines.js';
import type { LinkRequest } from './link.js';

/** Progress and open questions keep a request alive, but for no longer than this many times its timeout. */
const LONGEST_TIMES = 10;

/** A request that has been sent and not been answered. */
export interface Pending {
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
export type GivenUp = 'cancelled' | 'timeout';

/** Where something a server says comes from, as far as that can be told. */
export interface Origin {
  /** The calls it may belong to, all of one client. */
  readonly callers: readonly Caller[];
  /** It belongs to a call, and there is no telling whose. */
  readonly ambiguous: boolean;
}

const OF_NO_CALL: Origin = { callers: [], ambiguous: false };
const OF_ANY_CALL: Origin = { callers: [], ambiguous: true };

/** The unanswered requests of one link: who waits, for how long, and for whom. */
export class PendingRequests {
  /**
   * Not from 1: what a client could guess, it could send as the progress token of another's call. Not from far above
   * either: V8 writes a small integer as text in a fraction of the time.
   */
  private readonly byId = new Slots<Pending>(randomInt(2 ** 30));
  /** Given up, but the server may still be at them, and what it says of them is for their client alone. */
  private readonly forsaken = new Map<number, { readonly client: McpClient; readonly until: number }>();
  private readonly deadlines: Deadlines<Pending>;
  private announceDrained: () => void = () => {};

  constructor(
    private readonly giveUp: (pending: Pending, why: GivenUp) => void,
    /** Whether the client behind a call has been asked something and not answered yet. */
    private readonly isAsked: (caller: Caller) => boolean,
  ) {
    this.deadlines = new Deadlines(
      () => this.byId,
      (pending) => this.expire(pending),
    );
  }

  open(request: LinkRequest, resolve: Pending['resolve'], reject: Pending['reject']): Pending {
    const now = performance.now();
    const pending: Pending = {
      id: this.byId.nextId(),
      request,
      resolve,
      reject,
      onAbort: () => this.giveUp(pending, 'cancelled'),
      clientToken: progressTokenOf(request.params),
      deadline: now + request.timeoutMs,
      latestDeadline: now + request.timeoutMs * LONGEST_TIMES,
    };
    this.byId.add(pending);
    request.caller?.signal.addEventListener('abort', pending.onAbort, { once: true });
    this.deadlines.watch(pending.deadline);
    return pending;
  }

  get(id: unknown): Pending | undefined {
    return this.byId.get(id);
  }

  /** Releases everything a request holds; false when that was done before. */
  settle(pending: Pending): boolean {
    if (!this.byId.delete(pending.id)) return false;
    pending.request.caller?.signal.removeEventListener('abort', pending.onAbort);
    if (this.byId.size === 0) this.announceDrained();
    return true;
  }

  /** Nobody waits for it any more. Its server may take as long again to notice; one that obeys never answers. */
  forsake({ id, request: { caller, timeoutMs } }: Pending): void {
    this.forgetOld();
    if (caller) this.forsaken.set(id, { client: caller.client, until: performance.now() + timeoutMs });
  }

  /** The server is done with a request, whether or not somebody still waits. */
  answered(id: unknown): void {
    this.forsaken.delete(id as number);
  }

  /** Resolves when nobody waits any more. */
  drained(): Promise<void> {
    if (this.byId.size === 0) return Promise.resolve();
    return new Promise((resolve) => (this.announceDrained = resolve));
  }

  /** Progress was made: the timeout starts again, up to the latest deadline. */
  prolong(pending: Pending): void {
    pending.deadline = Math.min(performance.now() + pending.request.timeoutMs, pending.latestDeadline);
  }

  prolongAll(callers: ReadonlySet<Caller>): void {
    for (const pending of this.byId) {
      if (pending.request.caller && callers.has(pending.request.caller)) this.prolong(pending);
    }
  }

  /** Whose message this is: of the request on whose stream it came, else of the only client it can be for. */
  origin(streamOf: RequestId | undefined): Origin {
    if (streamOf !== undefined) return originOf(this.get(streamOf));
    if (this.byId.size === 0 && this.forsaken.size === 0) return OF_NO_CALL;
    const found: { readonly id: number; readonly caller: Caller }[] = [];
    for (const { id, request } of this.byId) {
      const { caller } = request;
      if (!caller) continue;
      if (found[0] && found[0].caller.client !== caller.client) return OF_ANY_CALL;
      found.push({ id, caller });
    }
    this.forgetOld();
    // The table has no order, and the latest call comes last.
    const callers = found.toSorted((a, b) => a.id - b.id).map(({ caller }) => caller);
    for (const { client } of this.forsaken.values()) if (client !== callers[0]?.client) return OF_ANY_CALL;
    return { callers, ambiguous: false };
  }

  /** Empties the table and returns what was in it. */
  abandonAll(): Pending[] {
    this.deadlines.stop();
    const abandoned = [...this.byId];
    for (const pending of abandoned) this.settle(pending);
    return abandoned;
  }

  private forgetOld(): void {
    const now = performance.now();
    for (const [id, { until }] of this.forsaken) {
      if (until > now) return;
      this.forsaken.delete(id);
    }
  }

  private expire(pending: Pending): void {
    const { caller } = pending.request;
    // While the server waits for the client, it does not keep us waiting.
    if (caller && pending.deadline < pending.latestDeadline && this.isAsked(caller)) this.prolong(pending);
    else this.giveUp(pending, 'timeout');
  }
}

function originOf(pending: Pending | undefined): Origin {
  // The request is over and forgotten: whose it was cannot be told any more.
  if (!pending) return OF_ANY_CALL;
  const { caller } = pending.request;
  return caller ? { callers: [caller], ambiguous: false } : OF_NO_CALL;
}
