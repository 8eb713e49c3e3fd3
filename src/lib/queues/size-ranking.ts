/** Finds the largest of many groups. The size of a group changes by one at a time; every operation takes constant time. */
export class SizeRanking<T> {
  /** The groups by size. Groups of size 0 are not ranked. */
  private readonly bySize: Set<T>[] = [];
  largestSize = 0;

  /** One of the groups with the most items. */
  get largest(): T | undefined {
    return this.bySize[this.largestSize]?.values().next().value;
  }

  /** To be called after the size of a group has changed from `previous` to `size`. */
  resized(group: T, previous: number, size: number): void {
    this.bySize[previous]?.delete(group);
    if (size > 0) (this.bySize[size] ??= new Set()).add(group);
    if (size > this.largestSize) this.largestSize = size;
    else if (previous === this.largestSize && this.bySize[previous]!.size === 0) this.largestSize = size;
  }
}
