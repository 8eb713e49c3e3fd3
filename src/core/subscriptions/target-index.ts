import { PrefixTree } from '../../lib/prefix-tree/prefix-tree.js';
import { isSameOrPart, patternOf } from '../resources/resource-pattern.js';
import { SubscribedTarget } from './subscription-target.js';

/**
 * What is wanted of one server. Whoever covers a URI is found in one walk down the URI, plus one look at each
 * pattern whose literal beginning fits.
 */
export class TargetIndex {
  private readonly resources = new PrefixTree<SubscribedTarget>();
  private patterns: Patterns | undefined;
  /** How many subscriptions all targets have together. */
  subscriptions = 0;
  /** What covers the URI that was asked for last: each update asks twice, and many are of the same resource. */
  private last: { readonly uri: string; readonly covering: readonly SubscribedTarget[] } | undefined;

  constructor(private readonly server: string) {}

  get(uri: string): SubscribedTarget | undefined {
    return this.resources.get(uri) ?? this.patterns?.byUri.get(uri);
  }

  open(uri: string): SubscribedTarget {
    this.last = undefined;
    const target = new SubscribedTarget(this.server, uri, patternOf(uri));
    if (target.pattern) {
      this.patterns ??= new Patterns();
      this.patterns.add(target, target.pattern.prefix);
    } else this.resources.set(uri, target);
    return target;
  }

  close(target: SubscribedTarget): void {
    this.last = undefined;
    if (!target.pattern) this.resources.delete(target.uri);
    else if (this.patterns) {
      this.patterns.delete(target, target.pattern.prefix);
      if (this.patterns.byUri.size === 0) this.patterns = undefined;
    }
  }

  /** Whether somebody wants this very resource, by its URI or by a pattern. */
  isWanted(uri: string): boolean {
    if (this.resources.get(uri)) return true;
    let wanted = false;
    this.patterns?.forEachMatching(uri, () => (wanted = true));
    return wanted;
  }

  /** Every target that an update of `uri` is for. */
  covering(uri: string): readonly SubscribedTarget[] {
    if (this.last?.uri !== uri) this.last = { uri, covering: this.findCovering(uri) };
    return this.last.covering;
  }

  private findCovering(uri: string): SubscribedTarget[] {
    const found: SubscribedTarget[] = [];
    this.resources.forEachPrefixOf(uri, (target) => {
      if (isSameOrPart(target.uri, uri)) found.push(target);
    });
    this.patterns?.forEachMatching(uri, (target) => found.push(target));
    return found;
  }

  *[Symbol.iterator](): Generator<SubscribedTarget, void, undefined> {
    yield* this.resources.values();
    if (this.patterns) yield* this.patterns.byUri.values();
  }
}

class Patterns {
  readonly byUri = new Map<string, SubscribedTarget>();
  private readonly byPrefix = new PrefixTree<Set<SubscribedTarget>>();

  add(target: SubscribedTarget, prefix: string): void {
    this.byUri.set(target.uri, target);
    const alike = this.byPrefix.get(prefix);
    if (alike) alike.add(target);
    else this.byPrefix.set(prefix, new Set([target]));
  }

  delete(target: SubscribedTarget, prefix: string): void {
    this.byUri.delete(target.uri);
    const alike = this.byPrefix.get(prefix);
    alike?.delete(target);
    if (alike?.size === 0) this.byPrefix.delete(prefix);
  }

  forEachMatching(uri: string, visit: (target: SubscribedTarget) => void): void {
    this.byPrefix.forEachPrefixOf(uri, (alike) => {
      for (const target of alike) if (target.pattern?.matches(uri)) visit(target);
    });
  }
}
