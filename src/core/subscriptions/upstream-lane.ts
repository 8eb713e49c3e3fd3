import { RemoteError, serverUnavailable } from '../errors.js';
import { WorkerPool } from '../../lib/queues/worker-pool.js';

/** The requests of one live link. */
export interface Upstream {
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  /** The link is gone, or not to be used any more. */
  stop?(): void;
}

/** Runs something later, once. What it returns calls that off, and does nothing when it is too late. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

/** What a lane needs to know, and whom it tells. */
export interface LaneSetting {
  readonly server: string;
  readonly lingerMs: number;
  /** How many requests may be on their way at once: for clients who wait, and as many for nobody who does. */
  readonly parallel: number;
  readonly schedule: Schedule;
  wants(uri: string): boolean;
  /** The server has been told in the background; updates may have been missed before. */
  restored(uri: string): void;
  /** A request failed that no client waits for. */
  failed(request: Request, uri: string, error: unknown): void;
}

type Request = 'subscribe' | 'unsubscribe';

interface Failure {
  readonly error: unknown;
}

interface Key {
  readonly uri: string;
  /** Whether the server has it. A request that nobody saw answered leaves a `maybe`. */
  held: 'no' | 'maybe' | 'yes';
  /** Being settled. It is, from the first request until nothing is left to do. */
  busy: boolean;
  onTheWire: Request | undefined;
  next: Request | undefined;
  /** Subscribers were there before, and are to be told when it is held again, however often that fails. */
  owesUpdate: boolean;
  /** The resource vanished while the server was being asked: what it answers may be of the one that is gone. */
  isDoubted: boolean;
  waiting: Outcome | undefined;
  stopLinger: (() => void) | undefined;
}

/**
 * What one server holds for us over one link, and its way to what is wanted. Each URI has one request on the wire at
 * most, and what comes next is decided from what is wanted when that one has been answered.
 */
export class UpstreamLane {
  private readonly keys = new Map<string, Key>();
  /** What clients wait for; whatever goes on in the background does not hold it up. */
  private readonly asked: WorkerPool<Key>;
  private readonly background: WorkerPool<Key>;
  private ended = false;
  /** How many URIs the server holds. */
  held = 0;

  constructor(
    private readonly upstream: Upstream,
    private readonly setting: LaneSetting,
  ) {
    const settle = (key: Key): Promise<void> => this.settle(key);
    this.asked = new WorkerPool(setting.parallel, settle);
    this.background = new WorkerPool(setting.parallel, settle);
  }

  /** Resolves when the server holds it, or when it is not wanted any more. */
  ensure(uri: string): Promise<void> {
    const key = this.keys.get(uri) ?? this.open(uri);
    this.recall(key);
    if (key.held === 'yes') return Promise.resolve();
    key.waiting ??= new Outcome();
    const { promise } = key.waiting;
    if (key.onTheWire !== 'subscribe') key.next = 'subscribe';
    if (!key.busy) this.asked.add(key);
    return promise;
  }

  /** The same in the background, with nobody waiting. */
  restore(uri: string): void {
    const key = this.keys.get(uri) ?? this.open(uri);
    if (key.held === 'yes') return;
    if (key.onTheWire === 'subscribe') {
      if (key.isDoubted) key.next = 'subscribe';
      return;
    }
    key.owesUpdate = true;
    if (key.waiting && !key.busy) return;
    this.recall(key);
    key.next = 'subscribe';
    if (!key.busy) this.background.add(key);
  }

  /** The last who wanted it may have left. */
  release(uri: string): void {
    const key = this.keys.get(uri);
    if (!key || key.busy || key.stopLinger || key.next === 'unsubscribe' || this.setting.wants(uri)) return;
    this.recall(key);
    key.waiting?.resolve();
    key.waiting = undefined;
    this.rest(key);
  }

  /** The last who wanted any of these may have left. Costs what the server holds. */
  releaseMatching(matches: (uri: string) => boolean): void {
    for (const uri of this.keys.keys()) if (matches(uri)) this.release(uri);
  }

  /** Whether the server is known to hold it. */
  holds(uri: string): boolean {
    return this.keys.get(uri)?.held === 'yes';
  }

  /** What of these it knows, held or not. Costs what the server holds. */
  knownMatching(matches: (uri: string) => boolean): Set<string> {
    return new Set([...this.keys.keys()].filter(matches));
  }

  /** It is gone, and the server may have forgotten it: whoever wants it has nothing to hear of it for now. */
  doubt(uri: string): void {
    const key = this.keys.get(uri);
    if (!key) return;
    if (key.held === 'yes') this.mark(key, 'maybe');
    key.isDoubted = key.onTheWire === 'subscribe';
    key.owesUpdate = true;
    if (key.next !== 'subscribe' || key.busy || key.waiting) return;
    this.recall(key);
    this.rest(key);
  }

  /** The server may have forgotten everything, and said things that nobody heard. */
  doubtAll(): void {
    for (const key of this.keys.values()) {
      if (key.onTheWire === 'subscribe') key.owesUpdate = true;
      else if (key.held === 'yes') this.mark(key, 'maybe');
    }
  }

  /** The link is gone, and what the server held with it. Answers that still come are nobody's. */
  end(why: string): void {
    this.ended = true;
    this.held = 0;
    this.asked.clear();
    this.background.clear();
    for (const key of this.keys.values()) {
      key.stopLinger?.();
      key.waiting?.reject(serverUnavailable(this.setting.server, why));
    }
    this.keys.clear();
    this.upstream.stop?.();
  }

  private open(uri: string): Key {
    const key: Key = {
      uri,
      held: 'no',
      busy: false,
      onTheWire: undefined,
      next: undefined,
      owesUpdate: false,
      isDoubted: false,
      waiting: undefined,
      stopLinger: undefined,
    };
    this.keys.set(uri, key);
    return key;
  }

  /** Takes back whatever was going to happen. */
  private recall(key: Key): void {
    key.stopLinger?.();
    key.stopLinger = undefined;
    key.next = undefined;
    this.asked.delete(key);
    this.background.delete(key);
  }

  /** One request after the other, until nothing is left to do. */
  private async settle(key: Key): Promise<void> {
    key.busy = true;
    for (let request = this.nextOf(key); request; request = this.nextOf(key)) {
      this.mark(key, 'maybe');
      key.onTheWire = request;
      const failure = await this.send(request, key.uri);
      if (this.ended) return;
      key.onTheWire = undefined;
      if (request === 'subscribe') this.subscribed(key, failure);
      else this.unsubscribed(key, failure);
      // Whoever was told of it may have ended the link.
      if (this.ended) return;
    }
    key.busy = false;
    key.waiting?.resolve();
    key.waiting = undefined;
    this.rest(key);
  }

  /** What is to be done next, if it is still right. */
  private nextOf(key: Key): Request | undefined {
    const { next } = key;
    key.next = undefined;
    const isWanted = this.setting.wants(key.uri);
    if (next === 'subscribe' && isWanted && key.held !== 'yes') return next;
    if (next === 'unsubscribe' && !isWanted && key.held !== 'no') return next;
    return undefined;
  }

  private async send(request: Request, uri: string): Promise<Failure | undefined> {
    try {
      await this.upstream[request](uri);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  private subscribed(key: Key, failure: Failure | undefined): void {
    const { waiting, owesUpdate, isDoubted } = key;
    key.waiting = undefined;
    key.isDoubted = false;
    if (failure) {
      // Nothing but the server's own refusal proves that it has not got it.
      this.mark(key, failure.error instanceof RemoteError ? 'no' : 'maybe');
      waiting?.reject(failure.error);
      if (owesUpdate) this.setting.failed('subscribe', key.uri, failure.error);
      return;
    }
    waiting?.resolve();
    if (isDoubted) return;
    this.mark(key, 'yes');
    key.owesUpdate = false;
    if (owesUpdate) this.setting.restored(key.uri);
  }

  private unsubscribed(key: Key, failure: Failure | undefined): void {
    this.mark(key, 'no');
    if (failure) this.setting.failed('unsubscribe', key.uri, failure.error);
  }

  /** Nothing is left to do for now: what nobody wants lingers, what nobody holds or is owed an update of is forgotten. */
  private rest(key: Key): void {
    const isWanted = this.setting.wants(key.uri);
    if (!isWanted) key.owesUpdate = false;
    if (key.held === 'no' && !key.owesUpdate) this.keys.delete(key.uri);
    else if (!isWanted) this.linger(key);
  }

  private linger(key: Key): void {
    key.stopLinger = this.setting.schedule(() => {
      key.stopLinger = undefined;
      key.next = 'unsubscribe';
      this.background.add(key);
    }, this.setting.lingerMs);
  }

  private mark(key: Key, held: Key['held']): void {
    this.held += Number(held === 'yes') - Number(key.held === 'yes');
    key.held = held;
  }
}

/** What everybody who asked at the same time waits for. */
class Outcome {
  resolve!: () => void;
  reject!: (error: unknown) => void;
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    // Whoever waits hears of a failure. If all of them have left, it is nobody's, and not the process's either.
    this.promise.catch(() => undefined);
  }
}
