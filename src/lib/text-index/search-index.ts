import { Kinds } from './kinds.js';
import { Segment } from './segment.js';
import { weigh, type SearchFields } from './weights.js';

export type { SearchFields } from './weights.js';

/**
 * The documents of one server, to be searched together with those of others. It keeps the items themselves and the
 * words of their fields, not the texts. Adding and removing are bounded, whatever the size.
 */
export class SearchIndex<Item> {
  private open: Segment<Item>;
  private readonly kinds = new Kinds();
  private readonly sealed = new Set<Segment<Item>>();
  private count = 0;

  /** The order of items that score the same. */
  constructor(readonly compare: (a: Item, b: Item) => number) {
    this.open = new Segment(compare, this.kinds);
  }

  get size(): number {
    return this.count;
  }

  /** What a search runs over. */
  get segments(): readonly Segment<Item>[] {
    return [this.open, ...this.sealed];
  }

  /** The item must not be there yet. */
  add(item: Item, fields: SearchFields, kind = ''): void {
    const weights = weigh(fields);
    if (!this.open.hasRoomFor(1, weights.size, weights.size)) this.startNext();
    this.open.add(item, weights, this.kinds.numberOf(kind));
    this.count++;
  }

  /** Idempotent. */
  remove(item: Item): void {
    const segment = this.segments.find((candidate) => candidate.remove(item));
    if (!segment) return;
    this.count--;
    if (segment.size < segment.length / 2) this.clear(segment);
  }

  /** Moves what is left of a segment that is mostly gaps to where there is room. */
  private clear(segment: Segment<Item>): void {
    this.sealed.delete(segment);
    if (segment === this.open) this.open = new Segment(this.compare, this.kinds);
    else if (!this.open.hasRoomForAll(segment)) this.startNext();
    this.open.absorb(segment);
  }

  private startNext(): void {
    this.open.seal();
    this.sealed.add(this.open);
    this.open = new Segment(this.compare, this.kinds);
  }
}
