import { PrefixTree } from '../../lib/prefix-tree/prefix-tree.js';
import { isSameOrPart, patternOf } from '../resources/resource-pattern.js';
import { SubscriptionTarget } from './subscription-target.js';

/**
 * The targets of one server. Finding those that cover a URI takes one descent through a prefix tree, plus one match
 * for each pattern whose literal prefix fits.
 */
export class TargetIndex {
  private readonly resources = new PrefixTree<SubscriptionTarget>();
  private patterns: PatternIndex | undefined;
  /** Number of subscriptions of all targets together; maintained by the table. */
  subscriptions = 0;
  /** Cache of one entry: every update is looked up twice, and successive ones are often of the same resource. */
  private last: { readonly uri: string; readonly covering: readonly SubscriptionTarget[] } | undefined;

  constructor(private readonly server: string) {}

  get(uri: string): SubscriptionTarget | undefined {
    return this.resources.get(uri) ?? this.patterns?.byUri.get(uri);
  }

  add(uri: string): SubscriptionTarget {
    this.last = undefined;
    const target = new SubscriptionTarget(this.server, uri, patternOf(uri));
    if (target.pattern) {
      this.patterns ??= new PatternIndex();
      this.patterns.add(target, target.pattern.prefix);
    } else this.resources.set(uri, target);
    return target;
  }

  delete(target: SubscriptionTarget): void {
    this.last = undefined;
    if (!target.pattern) this.resources.delete(target.uri);
    else if (this.patterns) {
      this.patterns.delete(target, target.pattern.prefix);
      if (this.patterns.byUri.size === 0) this.patterns = undefined;
    }
  }

  /** Whether a target is exactly this resource, or a pattern that matches it. */
  isWanted(uri: string): boolean {
    if (this.resources.get(uri)) return true;
    let isMatched = false;
    this.patterns?.forEachMatching(uri, () => (isMatched = true));
    return isMatched;
  }

  /** Every target that an update of `uri` is for. */
  covering(uri: string): readonly SubscriptionTarget[] {
    if (this.last?.uri !== uri) this.last = { uri, covering: this.findCovering(uri) };
    return this.last.covering;
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
