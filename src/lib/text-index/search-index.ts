import { KindTable, Segment } from './segment.js';
import { termWeights, type DocumentFields, type IndexedField } from './term-weights.js';

/**
 * An inverted index of items. A search may read several indexes of the same schema. The index keeps the items and the terms
 * of their fields, but not the texts. The time to add or remove an item hardly depends on the size of the index.
 */
export class SearchIndex<Item> {
  /** The segment to which items are added. */
  private openSegment: Segment<Item>;
  private readonly kinds = new KindTable();
  private readonly sealedSegments = new Set<Segment<Item>>();
  private count = 0;

  /** `compare` orders items with the same score. */
  constructor(
    private readonly schema: readonly IndexedField[],
    readonly compare: (a: Item, b: Item) => number,
  ) {
    this.openSegment = new Segment(compare, this.kinds);
  }

  get size(): number {
    return this.count;
  }

  get segments(): readonly Segment<Item>[] {
    return [this.openSegment, ...this.sealedSegments];
  }

  /** Adds an item, which must not be in the index. A search can filter by `kind`. */
  add(item: Item, fields: DocumentFields, kind = ''): void {
    const weights = termWeights(this.schema, fields);
    if (!this.openSegment.hasRoomFor(1, weights.size, weights.size)) this.startSegment();
    this.openSegment.add(item, weights, this.kinds.numberOf(kind));
    this.count++;
  }

  /** Removes an item. Has no effect if the item is not in the index. */
  remove(item: Item): void {
    // `remove` of a segment returns true only for the segment that contains the item.
    const segment = this.segments.find((candidate) => candidate.remove(item));
    if (!segment) return;
    this.count--;
    const isMostlyRemoved = segment.size < segment.length / 2;
    if (isMostlyRemoved) this.compact(segment);
  }

  /** Copies the remaining documents of a segment to the open segment, and drops the segment. */
  private compact(segment: Segment<Item>): void {
    this.sealedSegments.delete(segment);
    if (segment === this.openSegment) this.openSegment = new Segment(this.compare, this.kinds);
    else if (!this.openSegment.canMerge(segment)) this.startSegment();
    this.openSegment.mergeFrom(segment);
  }

  /** Seals the open segment and begins a new one. */
  private startSegment(): void {
    this.openSegment.seal();
    this.sealedSegments.add(this.openSegment);
    this.openSegment = new Segment(this.compare, this.kinds);
  }
}
