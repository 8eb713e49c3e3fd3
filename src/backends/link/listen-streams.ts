import { RemoteError } from '../../core/errors.js';
import { Backoff } from '../../lib/backoff/backoff.js';
import { withTimeout } from '../../lib/deadlines/timeout.js';
import { memberText } from '../../lib/json-text/json-text.js';
import type { Params } from '../../mcp/json-rpc.js';
import { subscriptionIdIn } from '../../mcp/envelope.js';
import { brokenError } from './link-errors.js';
import { ACKNOWLEDGED, ListenStream, MAX_URIS, mergeableOf, type ListChangeFilter } from './listen-stream.js';
import type { SendRequest } from './link-protocol.js';
import type { StreamSubscriptions } from './link.js';
import { UpdateOverlap } from './update-overlap.js';

interface ListenEvents {
  /**
   * - `open`: the first stream is acknowledged, or a lost stream is open again; notifications may have been lost before
   * - `lost`: a stream has ended
   * - `none`: the server does not know `subscriptions/listen`
   */
  stateChanged(state: 'open' | 'lost' | 'none'): void;
}

/** Maximum number of streams, including replaced streams that are not closed yet. At the maximum, new subscriptions wait. */
const MAX_OPEN_STREAMS = 20;
const ACKNOWLEDGEMENT_TIMEOUT_MS = 10_000;
/** How long a replaced stream stays open after the acknowledgement of the new stream, so that no notification is lost. */
const OVERLAP_MS = 250;
const METHOD_NOT_FOUND = -32601;

/** The calls of `subscribe` that wait for one URI. */
interface SubscriptionWaiter {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The subscriptions of one link of the 2026 era: one listen stream for the list changes, and a few for the URIs of resources.
 * A server cannot add URIs to a stream. New URIs therefore need a new stream. All URIs that wait at the same time share it.
 * When there are many streams, small ones are merged: the gateway opens one new stream in their place, and closes the old
 * streams after the acknowledgement of the new one. An update that comes on an old and on the new stream passes once. A stream
 * that ends is opened again; notifications may have been lost then.
 */
export class ListenStreams implements StreamSubscriptions {
  /** The acknowledged streams, without those that were replaced. */
  private readonly streams = new Set<ListenStream>();
  /** By id of the request: the streams that are open or being opened. */
  private readonly byId = new Map<number, ListenStream>();
  /** The acknowledged stream of each URI. */
  private readonly streamByUri = new Map<string, ListenStream>();
  /** By URI: the subscriptions for which no stream was requested yet. */
  private readonly waiting = new Map<string, SubscriptionWaiter>();
  /** Streams that have ended and will be opened again after a delay. */
  private readonly lost = new Set<ListenStream>();
  private readonly overlaps = new Set<UpdateOverlap>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly backoff = new Backoff();
  /** Number of streams that were replaced and are not closed yet. */
  private closing = 0;
  private isWorking = false;
  private isStopped = false;

  constructor(
    private readonly send: SendRequest,
    private readonly events: ListenEvents,
    /** Adds to the number of acknowledgements that the link expects. */
    private readonly expectAcknowledgement: (count: 1 | -1) => void = () => {},
  ) {}

  /** Opens the stream for list changes. Resolves after the first attempt, and never rejects. */
  async start(filter: ListChangeFilter): Promise<void> {
    const stream = new ListenStream(filter, new Set());
    try {
      await this.open(stream);
      this.events.stateChanged('open');
    } catch (error) {
      const isUnknown = error instanceof RemoteError && error.code === METHOD_NOT_FOUND;
      if (isUnknown) this.events.stateChanged('none');
      else this.reopen(stream);
    }
  }

  /** Resolves when the server has acknowledged the URI. Rejects when it left the URI out. */
  subscribe(uri: string): Promise<void> {
    if (this.streamByUri.has(uri)) return Promise.resolve();
    let waiter = this.waiting.get(uri);
    if (!waiter) {
      waiter = createWaiter();
      this.waiting.set(uri, waiter);
    }
    // URIs that are subscribed in the same iteration of the event loop share a stream.
    setImmediate(() => void this.work());
    return waiter.promise;
  }

  unsubscribe(uri: string): void {
    this.waiting.get(uri)?.resolve();
    this.waiting.delete(uri);
    for (const { uris } of this.lost) uris.delete(uri);
    const stream = this.streamByUri.get(uri);
    if (!stream) return;
    this.streamByUri.delete(uri);
    stream.uris.delete(uri);
    if (stream.isEmpty) this.close(stream);
    else void this.work();
  }

  /** Returns false for a notification that needs no further processing: an acknowledgement, or a repeated update. */
  receive(method: string, params: Params, paramsText = '{}'): boolean {
    if (method !== ACKNOWLEDGED) return this.passesOnce(method, params);
    const honoured = memberText(paramsText, 'notifications');
    this.byId
      .get(subscriptionIdIn(params) as number)
      ?.acknowledge(honoured?.startsWith('{') ? memberText(honoured, 'resourceSubscriptions') : undefined);
    return false;
  }

  stop(): void {
    this.isStopped = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const stream of this.streams) this.close(stream);
    for (const waiter of this.waiting.values()) waiter.reject(brokenError('the link was closed'));
    this.waiting.clear();
  }

  /** Opens and replaces streams, one after the other, until there is nothing more to do. */
  private async work(): Promise<void> {
    if (this.isWorking) return;
    this.isWorking = true;
    while (!this.isStopped && (await this.nextStep()));
    this.isWorking = false;
  }

  /** Resolves with false when there is nothing to do now. */
  private async nextStep(): Promise<boolean> {
    const count = this.streams.size + this.closing;
    if (count >= MAX_OPEN_STREAMS) return false;
    if (this.waiting.size > 0) return this.openWaiting().then(() => true);
    const mergeable = mergeableOf(this.streams);
    if (mergeable.length > 0) return this.replace(mergeable);
    const stale = [...this.streams].find(({ isStale }) => isStale);
    return stale ? this.replace([stale]) : false;
  }

  /** Opens one stream for the URIs that wait. */
  private async openWaiting(): Promise<void> {
    const batch = [...this.waiting].slice(0, MAX_URIS);
    for (const [uri] of batch) this.waiting.delete(uri);
    const stream = new ListenStream(undefined, new Set(batch.map(([uri]) => uri)));
    try {
      await this.open(stream);
      for (const [uri, waiter] of batch)
        if (stream.uris.has(uri)) waiter.resolve();
        else waiter.reject(leftOut());
      if (stream.isEmpty) this.close(stream);
    } catch (error) {
      for (const [, waiter] of batch) waiter.reject(error as Error);
    }
  }

  /** Opens one stream in place of others. Resolves with false when that failed; the others stay open then. */
  private async replace(old: readonly ListenStream[]): Promise<boolean> {
    const filter = old.find((stream) => stream.filter)?.filter;
    const uris = new Set(old.flatMap((stream) => [...stream.uris]));
    const stream = new ListenStream(filter, uris);
    const overlap = new UpdateOverlap(old.flatMap(({ id }) => id ?? []));
    this.overlaps.add(overlap);
    try {
      await this.open(stream);
    } catch {
      this.overlaps.delete(overlap);
      return false;
    }
    // URIs that were unsubscribed while the new stream was opened.
    for (const uri of uris) if (!old.some((each) => each.uris.has(uri))) this.unsubscribe(uri);
    // A URI of an old stream that did not move to the new one is no longer subscribed.
    const removeIfLeftOut = (uri: string): boolean =>
      this.streamByUri.get(uri) !== stream && this.streamByUri.delete(uri);
    const leftOutUris = old.flatMap((each) => [...each.uris]).filter(removeIfLeftOut);
    // The server honours fewer URIs than before. The state `open` makes the gateway subscribe all wanted URIs again. The server
    // then refuses the URIs that it left out.
    if (leftOutUris.length > 0) this.events.stateChanged('open');
    for (const each of old) this.streams.delete(each);
    this.closing += old.length;
    this.after(OVERLAP_MS, () => {
      this.overlaps.delete(overlap);
      this.closing -= old.length;
      for (const each of old) this.close(each);
      void this.work();
    });
    return true;
  }

  /** Resolves when the stream is acknowledged. Its `uris` are then those that the server honours. */
  private async open(stream: ListenStream): Promise<void> {
    const acknowledged = new Promise<string | undefined>((resolve) => (stream.acknowledge = resolve));
    const ended = this.send({
      method: 'subscriptions/listen',
      params: stream.params,
      timeoutMs: Infinity,
      signal: stream.end,
      onIdAssigned: (id) => {
        stream.id = id;
        this.byId.set(id, stream);
      },
    });
    this.expectAcknowledgement(1);
    try {
      const end = ended.then(() => Promise.reject<undefined>(brokenError('the server ended the stream')));
      const honoured = await withTimeout(Promise.race([acknowledged, end]), ACKNOWLEDGEMENT_TIMEOUT_MS, () =>
        brokenError('the server did not acknowledge the subscriptions'),
      );
      stream.keepHonoured(honoured);
    } catch (error) {
      this.close(stream);
      ended.catch(() => {});
      throw error;
    } finally {
      this.expectAcknowledgement(-1);
    }
    this.streams.add(stream);
    for (const uri of stream.uris) this.streamByUri.set(uri, stream);
    const onEnd = (): void => this.streamEnded(stream);
    ended.then(onEnd, onEnd);
  }

  private streamEnded(stream: ListenStream): void {
    if (stream.end.aborted || !this.streams.has(stream)) return;
    this.close(stream);
    this.events.stateChanged('lost');
    this.reopen(stream);
  }

  /** Opens a stream in place of one that has ended, after a delay, for the list changes and URIs that are still subscribed. */
  private reopen(stream: ListenStream): void {
    const { filter, uris } = stream;
    for (const uri of uris) this.streamByUri.delete(uri);
    this.lost.add(stream);
    this.after(this.backoff.next(), async () => {
      this.lost.delete(stream);
      const next = new ListenStream(filter, new Set([...uris].filter((uri) => !this.streamByUri.has(uri))));
      if (next.isEmpty) return this.events.stateChanged('open');
      try {
        await this.open(next);
        this.backoff.reset();
        this.events.stateChanged('open');
      } catch {
        this.reopen(next);
      }
    });
  }

  private close(stream: ListenStream): void {
    this.streams.delete(stream);
    if (stream.id !== undefined) this.byId.delete(stream.id);
    stream.end.abort();
  }

  /** Returns false for an update that has passed already, on another stream. */
  private passesOnce(method: string, params: Params): boolean {
    if (this.overlaps.size === 0 || method !== 'notifications/resources/updated') return true;
    const id = subscriptionIdIn(params);
    for (const overlap of this.overlaps) if (!overlap.passes(params['uri'], id)) return false;
    return true;
  }

  private after(ms: number, act: () => unknown): void {
    if (this.isStopped) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.isStopped) void act();
    }, ms).unref();
    this.timers.add(timer);
  }
}

const leftOut = (): RemoteError => {
  const message = 'the server does not accept a subscription to this resource';
  return new RemoteError(-32602, message, JSON.stringify({ code: -32602, message }));
};

function createWaiter(): SubscriptionWaiter {
  let resolve!: () => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
