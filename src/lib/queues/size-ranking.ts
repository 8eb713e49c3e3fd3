/** Finds the largest of many groups in constant time. The size of a group may change only by one at a time. */
export class SizeRanking<T> {
  /** The groups by size. Groups of size 0 are not ranked. */
  private readonly bySize: Set<T>[] = [];
  largestSize = 0;

  /** One of the groups with the most items. */
  get largest(): T | undefined {
    return this.bySize[this.largestSize]?.values().next().value;
  }

  /** Call this after the size of a group has changed from `previousSize` to `size`. */
  resized(group: T, previousSize: number, size: number): void {
    this.bySize[previousSize]?.delete(group);
    if (size > 0) {
      this.bySize[size] ??= new Set();
      this.bySize[size].add(group);
    }
    const wasOnlyLargest = previousSize === this.largestSize && this.bySize[previousSize]?.size === 0;
    if (size > this.largestSize || wasOnlyLargest) this.largestSize = size;
  }
}
