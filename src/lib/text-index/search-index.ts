import { KindTable, Segment } from './segment.js';
import { termWeights, type DocumentFields, type IndexedField } from './term-weights.js';

/**
 * An inverted index of items, to be searched together with other indexes of the same schema. It keeps the items and the
 * terms of their fields, not the texts. The time to add or remove an item does not depend on the size of the index.
 */
export class SearchIndex<Item> {
  private open: Segment<Item>;
  private readonly kinds = new KindTable();
  private readonly sealed = new Set<Segment<Item>>();
  private count = 0;

  /** `compare` orders items of equal score. */
  constructor(
    private readonly schema: readonly IndexedField[],
    readonly compare: (a: Item, b: Item) => number,
  ) {
    this.open = new Segment(compare, this.kinds);
  }

  get size(): number {
    return this.count;
  }

  get segments(): readonly Segment<Item>[] {
    return [this.open, ...this.sealed];
  }

  /** The item must not be in the index. A search can filter by `kind`. */
  add(item: Item, fields: DocumentFields, kind = ''): void {
    const weights = termWeights(this.schema, fields);
    if (!this.open.hasRoomFor(1, weights.size, weights.size)) this.startSegment();
    this.open.add(item, weights, this.kinds.numberOf(kind));
    this.count++;
  }

  /** Idempotent. */
  remove(item: Item): void {
    const segment = this.segments.find((candidate) => candidate.remove(item));
    if (!segment) return;
    this.count--;
    if (segment.size < segment.length / 2) this.compact(segment);
  }

  /** Merges a segment with many removed documents into the open one. */
  private compact(segment: Segment<Item>): void {
    this.sealed.delete(segment);
    if (segment === this.open) this.open = new Segment(this.compare, this.kinds);
    else if (!this.open.canMerge(segment)) this.startSegment();
    this.open.mergeFrom(segment);
  }

  private startSegment(): void {
    this.open.seal();
    this.sealed.add(this.open);
    this.open = new Segment(this.compare, this.kinds);
  }
}
