import { PrefixTree } from '../../lib/prefix-tree/prefix-tree.js';
import { normalizeUri } from '../resources/equivalent-uri.js';
import {
  isSameOrPart,
  patternAt,
  type ResourcePattern,
  type SubscribableAddress,
} from '../resources/resource-pattern.js';

/** A row of the subscription table: one subscriber gets the updates of one target. */
export interface Subscription extends SubscribableAddress {
  readonly id: string;
  /** The id of the subscriber. */
  readonly subscriber: string;
  /** The key of the principal's quota. Undefined while the address of an anonymous client is not known. */
  readonly principal: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

type TargetAddress = Omit<SubscribableAddress, 'server'>;

/** A resource or pattern of a server, with its subscriptions. Only the subscription table changes it. */
export class SubscriptionTarget {
  /** The only subscription. Most targets have one, for which a Map would take several times the memory. */
  private onlySubscription: Subscription | undefined;
  private bySubscriber: Map<string, Subscription> | undefined;

  constructor(
    readonly server: string,
    readonly uri: string,
    /** Undefined for a single resource. */
    readonly pattern: ResourcePattern | undefined,
  ) {}

  get size(): number {
    if (this.bySubscriber) return this.bySubscriber.size;
    return this.onlySubscription ? 1 : 0;
  }

  subscriptionOf(subscriber: string): Subscription | undefined {
    if (this.bySubscriber) return this.bySubscriber.get(subscriber);
    return this.onlySubscription?.subscriber === subscriber ? this.onlySubscription : undefined;
  }

  /**
   * Visits all subscriptions without allocating memory. `visit` may add and remove subscriptions. A removed
   * subscription is not visited.
   */
  forEach(visit: (subscription: Subscription) => void): void {
    if (this.bySubscriber) this.bySubscriber.forEach(visit);
    else if (this.onlySubscription) visit(this.onlySubscription);
  }

  get subscriptions(): Iterable<Subscription> {
    return (this.bySubscriber ?? (this.onlySubscription ? [this.onlySubscription] : [])).values();
  }

  put(subscription: Subscription): void {
    if (!this.bySubscriber && this.onlySubscription) {
      this.bySubscriber = new Map([[this.onlySubscription.subscriber, this.onlySubscription]]);
      this.onlySubscription = undefined;
    }
    if (this.bySubscriber) this.bySubscriber.set(subscription.subscriber, subscription);
    else this.onlySubscription = subscription;
  }

  drop(subscription: Subscription): void {
    // A Map with one entry does not become `onlySubscription` again, so that iterations over the Map see later
    // removals.
    if (this.bySubscriber) this.bySubscriber.delete(subscription.subscriber);
    else this.onlySubscription = undefined;
  }
}

/**
 * The targets of one server. A target covers a URI if its subscribers get updates of this URI. Finding all targets that
 * cover a URI takes one descent through a prefix tree of resources and one through a prefix tree of patterns, and one
 * match for each pattern whose literal prefix is a prefix of the URI.
 */
export class TargetIndex {
  private readonly resources = new PrefixTree<SubscriptionTarget>();
  private patterns: PatternIndex | undefined;
  /** The targets whose URI is not in normal form, by the normal form of that URI. Most servers have no such target. */
  private readonly unnormalized = new Map<string, Set<SubscriptionTarget>>();
  /** Number of subscriptions of all targets together. The table updates it. */
  subscriptionCount = 0;
  /**
   * The last result of `covering`. Most updates need the result twice, and many successive updates are of one resource.
   */
  private lastLookup: { readonly uri: string; readonly covering: readonly SubscriptionTarget[] } | undefined;

  constructor(private readonly server: string) {}

  resource(uri: string): SubscriptionTarget | undefined {
    return this.resources.get(uri);
  }

  pattern(uri: string): SubscriptionTarget | undefined {
    return this.patterns?.byUri.get(uri);
  }

  get hasPatterns(): boolean {
    return this.patterns !== undefined;
  }

  at(address: TargetAddress): SubscriptionTarget | undefined {
    return patternAt(address) ? this.pattern(address.uri) : this.resource(address.uri);
  }

  add(address: TargetAddress): SubscriptionTarget {
    this.lastLookup = undefined;
    const { uri } = address;
    const target = new SubscriptionTarget(this.server, uri, patternAt(address));
    if (target.pattern) {
      this.patterns ??= new PatternIndex();
      this.patterns.add(target, target.pattern.prefix);
    } else {
      this.resources.set(uri, target);
      this.addNormalForm(target);
    }
    return target;
  }

  delete(target: SubscriptionTarget): void {
    this.lastLookup = undefined;
    if (!target.pattern) {
      this.resources.delete(target.uri);
      this.deleteNormalForm(target);
    } else if (this.patterns) {
      this.patterns.delete(target, target.pattern.prefix);
      if (this.patterns.byUri.size === 0) this.patterns = undefined;
    }
  }

  /** Whether there is a target for this URI, or for a pattern that matches it. */
  isWanted(uri: string): boolean {
    if (this.resources.get(uri)) return true;
    let isMatched = false;
    this.patterns?.forEachMatching(uri, () => {
      isMatched = true;
    });
    return isMatched;
  }

  /** Every target whose subscribers get an update of `uri`. */
  covering(uri: string): readonly SubscriptionTarget[] {
    if (this.lastLookup?.uri !== uri) this.lastLookup = { uri, covering: this.findCovering(uri) };
    return this.lastLookup.covering;
  }

  /** The targets of single resources whose URIs have this normal form. */
  equivalentTo(normalUri: string): readonly SubscriptionTarget[] {
    const normal = this.resources.get(normalUri);
    const others = this.unnormalized.size > 0 ? this.unnormalized.get(normalUri) : undefined;
    return [...(normal ? [normal] : []), ...(others ?? [])];
  }

  private addNormalForm(target: SubscriptionTarget): void {
    const normal = normalizeUri(target.uri);
    if (normal === target.uri) return;
    this.unnormalized.set(normal, (this.unnormalized.get(normal) ?? new Set()).add(target));
  }

  private deleteNormalForm(target: SubscriptionTarget): void {
    const normal = normalizeUri(target.uri);
    const targets = this.unnormalized.get(normal);
    targets?.delete(target);
    if (targets?.size === 0) this.unnormalized.delete(normal);
  }

  private findCovering(uri: string): SubscriptionTarget[] {
    const found: SubscriptionTarget[] = [];
    this.resources.forEachPrefixOf(uri, (target) => {
      if (isSameOrPart(target.uri, uri)) found.push(target);
    });
    this.patterns?.forEachMatching(uri, (target) => found.push(target));
    return found;
  }

  *[Symbol.iterator](): Generator<SubscriptionTarget, void, undefined> {
    yield* this.resources.values();
    if (this.patterns) yield* this.patterns.byUri.values();
  }
}

/** The targets of one server that are patterns. */
class PatternIndex {
  readonly byUri = new Map<string, SubscriptionTarget>();
  private readonly byPrefix = new PrefixTree<Set<SubscriptionTarget>>();

  add(target: SubscriptionTarget, prefix: string): void {
    this.byUri.set(target.uri, target);
    const targets = this.byPrefix.get(prefix);
    if (targets) targets.add(target);
    else this.byPrefix.set(prefix, new Set([target]));
  }

  delete(target: SubscriptionTarget, prefix: string): void {
    this.byUri.delete(target.uri);
    const targets = this.byPrefix.get(prefix);
    targets?.delete(target);
    if (targets?.size === 0) this.byPrefix.delete(prefix);
  }

  forEachMatching(uri: string, visit: (target: SubscriptionTarget) => void): void {
    this.byPrefix.forEachPrefixOf(uri, (targets) => {
      for (const target of targets) if (target.pattern?.matches(uri)) visit(target);
    });
  }
}
