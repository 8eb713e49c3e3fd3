import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../core/json-text.js';
import { progressTokenOf } from '../mcp/progress-token.js';
import type { Caller } from '../mcp/mcp-context.js';
import { Deadlines } from './deadlines.js';
import type { LinkRequest } from './link.js';

/** Progress keeps a request alive, but for no longer than this many times its timeout. */
const LONGEST_BY_PROGRESS = 10;

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

/** The unanswered requests of one link: who waits, for how long, and for whom. */
export class PendingRequests {
  private readonly byId = new Map<number, Pending>();
  private readonly deadlines: Deadlines<Pending>;
  private lastId = 0;

  constructor(private readonly giveUp: (pending: Pending, why: GivenUp) => void) {
    this.deadlines = new Deadlines(
      () => this.byId.values(),
      (pending) => this.giveUp(pending, 'timeout'),
    );
  }

  open(request: LinkRequest, resolve: Pending['resolve'], reject: Pending['reject']): Pending {
    const now = performance.now();
    const pending: Pending = {
      id: ++this.lastId,
      request,
      resolve,
      reject,
      onAbort: () => this.giveUp(pending, 'cancelled'),
      clientToken: progressTokenOf(request.params),
      deadline: now + request.timeoutMs,
      latestDeadline: now + request.timeoutMs * LONGEST_BY_PROGRESS,
    };
    this.byId.set(pending.id, pending);
    request.caller?.signal.addEventListener('abort', pending.onAbort, { once: true });
    this.deadlines.watch(pending.deadline);
    return pending;
  }

  get(id: unknown): Pending | undefined {
    return this.byId.get(id as number);
  }

  /** Releases everything a request holds; false when that was done before. */
  settle(pending: Pending): boolean {
    if (!this.byId.delete(pending.id)) return false;
    pending.request.caller?.signal.removeEventListener('abort', pending.onAbort);
    return true;
  }

  /** Progress was made: the timeout starts again, up to the latest deadline. */
  prolong(pending: Pending): void {
    pending.deadline = Math.min(performance.now() + pending.request.timeoutMs, pending.latestDeadline);
  }

  /** The client request a message belongs to: the one on whose stream it came, else the only one it can be. */
  origin(streamOf: RequestId | undefined): { caller: Caller | undefined; ambiguous: boolean } {
    const known = this.get(streamOf)?.request.caller;
    if (known) return { caller: known, ambiguous: false };
    let caller: Caller | undefined;
    for (const { request } of this.byId.values()) {
      if (!request.caller) continue;
      if (caller && caller.client !== request.caller.client) return { caller: undefined, ambiguous: true };
      caller = request.caller;
    }
    return { caller, ambiguous: false };
  }

  /** Empties the table and returns what was in it. */
  abandonAll(): Pending[] {
    this.deadlines.stop();
    const abandoned = [...this.byId.values()];
    for (const pending of abandoned) this.settle(pending);
    return abandoned;
  }
}
