import { RetryTimer, type Schedule } from '../../lib/backoff/retry-timer.js';
import type { BackoffLimits } from '../../lib/backoff/backoff.js';
import { WorkerPool } from '../../lib/queues/worker-pool.js';
import { RemoteError, serverUnavailable } from '../errors.js';
import type { DesiredSubscriptions, ReconcilerEvents, Upstream, UpstreamRequestKind } from './upstream.js';
import { UriState, Waiter } from './uri-state.js';

export interface ReconcilerOptions {
  /** The linger: how long a URI without subscribers stays subscribed, in case a client subscribes again. */
  readonly lingerMs: number;
  /** Maximum concurrent requests, counted separately for client-initiated and background requests. */
  readonly maxConcurrent: number;
  readonly retry: BackoffLimits;
  readonly schedule: Schedule;
}

/**
 * Makes one server hold exactly the wanted subscriptions over one link. Each URI has at most one subscription.
 * Level-triggered: an event only marks a URI dirty. A worker then compares the desired with the actual state and chooses
 * the next request.
 */
export class UpstreamReconciler {
  private readonly states = new Map<string, UriState>();
  /** The workers for requests that a client waits for. They are separate, so that background work delays no client. */
  private readonly clientWorkers: WorkerPool<UriState>;
  private readonly backgroundWorkers: WorkerPool<UriState>;
  private readonly retryTimer: RetryTimer;
  private isClosed = false;
  /** Number of URIs whose subscription the server is known to hold. */
  size = 0;

  constructor(
    private readonly server: string,
    private readonly upstream: Upstream,
    private readonly desired: DesiredSubscriptions,
    private readonly events: ReconcilerEvents,
    private readonly options: ReconcilerOptions,
  ) {
    const reconcile = (state: UriState): Promise<void> => this.reconcile(state);
    this.clientWorkers = new WorkerPool(options.maxConcurrent, reconcile);
    this.backgroundWorkers = new WorkerPool(options.maxConcurrent, reconcile);
    this.retryTimer = new RetryTimer(() => this.retry(), options.retry, options.schedule);
  }

  holds(uri: string): boolean {
    return this.states.get(uri)?.held === 'yes';
  }

  /** The URIs whose subscription the server holds or may hold, or that have to be subscribed. */
  get uris(): Iterable<string> {
    return this.states.keys();
  }

  /**
   * Resolves when the server holds the subscription, or when the URI is not wanted any more. Rejects when the request
   * fails or the link is closed. Clients that wait for the same URI share one request and its outcome.
   */
  async confirm(uri: string): Promise<void> {
    if (this.isClosed) throw serverUnavailable(this.server, 'the connection was lost', { reason: 'broken' });
    const state = this.states.get(uri) ?? this.track(uri);
    state.stopLinger();
    if (state.held === 'yes') return;
    const { promise } = (state.waiter ??= new Waiter());
    if (state.inFlight !== 'subscribe') state.isDirty = true;
    if (!state.isBusy) this.clientWorkers.add(state);
    await promise;
  }

  /** Call this when the desired and the actual state of the URI may differ. */
  markDirty(uri: string): void {
    if (this.isClosed) return;
    const isWanted = this.desired.isWanted(uri);
    const state = this.states.get(uri) ?? (isWanted ? this.track(uri) : undefined);
    if (!state) return;
    if (isWanted) this.subscribeInBackground(state);
    else if (!state.isBusy && !state.hasLingered) this.lingerOrDelete(state);
  }

  /**
   * A row of the subscription table was removed. Does nothing while another row wants the URI: that row may be new, and
   * its client may still wait for its first subscribe request. `markDirty` would treat this request as a resubscription.
   */
  rowRemoved(uri: string): void {
    if (!this.desired.isWanted(uri)) this.markDirty(uri);
  }

  /** A row for a pattern was removed: calls `rowRemoved` for all URIs that match the pattern. */
  patternRemoved(matches: (uri: string) => boolean): void {
    for (const uri of this.states.keys()) if (matches(uri)) this.rowRemoved(uri);
  }

  /** The server lists the resource again. */
  resourceListed(uri: string): void {
    const state = this.states.get(uri);
    if (state) state.isGone = false;
    this.markDirty(uri);
  }

  /** The server no longer lists the resource, and may have dropped the subscription. */
  resourceGone(uri: string): void {
    const state = this.states.get(uri);
    if (!state) return;
    if (state.held === 'yes') this.setHeld(state, 'unknown');
    state.markGone();
    this.markDirty(uri);
  }

  /** The server may have dropped all subscriptions, and updates may be lost. The caller has to mark the URIs dirty. */
  invalidate(): void {
    for (const state of this.states.values()) {
      state.isGone = false;
      if (state.held === 'yes' || state.sinceGap) state.sinceGap = 'silent';
      if (state.inFlight === 'subscribe') state.mayHaveMissedUpdates = true;
      else if (state.held === 'yes') this.setHeld(state, 'unknown');
    }
  }

  /** The server has sent an update of the resource. */
  updateReceived(uri: string): void {
    const state = this.states.get(uri);
    if (state?.sinceGap) state.sinceGap = 'updated';
  }

  /** Plans a background retry for a URI that a pattern wants and that the server did not confirm. */
  retryLater(uri: string): void {
    if (this.isClosed || !this.desired.isWanted(uri)) return;
    (this.states.get(uri) ?? this.track(uri)).mayHaveMissedUpdates = true;
    this.retryTimer.plan();
  }

  /** The link is closed. No request is sent any more, waiting clients get an error, and late responses are ignored. */
  close(reason: string): void {
    this.isClosed = true;
    this.size = 0;
    this.clientWorkers.clear();
    this.backgroundWorkers.clear();
    this.retryTimer.stop();
    for (const state of this.states.values()) {
      state.cancelLinger?.();
      state.waiter?.reject(serverUnavailable(this.server, reason, { reason: 'broken' }));
    }
    this.states.clear();
    this.upstream.stop?.();
  }

  private track(uri: string): UriState {
    const state = new UriState(uri);
    this.states.set(uri, state);
    return state;
  }

  private subscribeInBackground(state: UriState): void {
    if (state.held === 'yes' || state.isGone) return;
    if (state.inFlight === 'subscribe') {
      // A stale response proves nothing, so another request has to follow it.
      if (state.isResponseStale) state.isDirty = true;
      return;
    }
    state.stopLinger();
    // The server need not send updates before it has confirmed the subscription.
    state.mayHaveMissedUpdates = true;
    state.isDirty = true;
    if (!state.isBusy && !state.waiter) this.backgroundWorkers.add(state);
  }

  private retry(): void {
    for (const { uri, mayHaveMissedUpdates } of this.states.values())
      if (mayHaveMissedUpdates && this.desired.isOffered(uri)) this.markDirty(uri);
  }

  /** Sends one request after the other until desired and actual state agree. */
  private async reconcile(state: UriState): Promise<void> {
    // While this state was queued, it may have been deleted, and the URI may have got a new state.
    if (state.isBusy || this.states.get(state.uri) !== state) return;
    state.isBusy = true;
    const takeRequest = (): UpstreamRequestKind | undefined => state.takeRequest(this.desired);
    for (let request = takeRequest(); request; request = takeRequest()) {
      this.setHeld(state, 'unknown');
      state.inFlight = request;
      const failure = await this.send(request, state.uri);
      if (this.isClosed) return;
      state.inFlight = undefined;
      if (request === 'subscribe') this.handleSubscribed(state, failure);
      else this.handleUnsubscribed(state, failure);
      // A listener of `events` may have closed the link.
      if (this.isClosed) return;
    }
    state.isBusy = false;
    this.lingerOrDelete(state);
  }

  private async send(request: UpstreamRequestKind, uri: string): Promise<{ error: unknown } | undefined> {
    try {
      await this.upstream[request](uri);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  private handleSubscribed(state: UriState, failure: { error: unknown } | undefined): void {
    const { uri, waiter, mayHaveMissedUpdates, isResponseStale, sinceGap } = state;
    state.waiter = undefined;
    state.sinceGap = undefined;
    state.isResponseStale = false;
    if (failure) {
      // Only a refusal by the server itself proves that it does not hold the subscription.
      this.setHeld(state, failure.error instanceof RemoteError ? 'no' : 'unknown');
      waiter?.reject(failure.error);
      // Without `mayHaveMissedUpdates`, the request was only for the waiting clients, which have got the error.
      if (!mayHaveMissedUpdates) return;
      this.retryTimer.plan();
      this.events.failed('subscribe', uri, failure.error);
      return;
    }
    waiter?.resolve();
    if (isResponseStale) return;
    this.setHeld(state, 'yes');
    state.isGone = false;
    state.mayHaveMissedUpdates = false;
    if (!mayHaveMissedUpdates) return;
    this.retryTimer.succeeded();
    if (sinceGap !== 'updated') this.events.resubscribed(uri);
  }

  private handleUnsubscribed(state: UriState, failure: { error: unknown } | undefined): void {
    this.setHeld(state, 'no');
    if (failure) this.events.failed('unsubscribe', state.uri, failure.error);
  }

  /** Called when there is no request to send. Deletes a state that is not needed any more, or starts the linger. */
  private lingerOrDelete(state: UriState): void {
    const isWanted = this.desired.isWanted(state.uri);
    if (!isWanted) {
      state.waiter?.resolve();
      state.waiter = undefined;
      state.mayHaveMissedUpdates = false;
    }
    if (state.held === 'no' && !state.mayHaveMissedUpdates && !state.waiter) this.states.delete(state.uri);
    else if (!isWanted) this.startLinger(state);
  }

  private startLinger(state: UriState): void {
    state.cancelLinger ??= this.options.schedule(() => {
      state.cancelLinger = undefined;
      state.hasLingered = true;
      state.isDirty = true;
      this.backgroundWorkers.add(state);
    }, this.options.lingerMs);
  }

  private setHeld(state: UriState, held: UriState['held']): void {
    if (state.held === 'yes') this.size--;
    if (held === 'yes') this.size++;
    state.held = held;
  }
}
