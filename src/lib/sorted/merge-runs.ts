import { upperBound } from './binary-search.js';

/** Items in ascending order of their keys. */
export interface SortedRun<Item> {
  readonly items: readonly Item[];
  keyOf(item: Item): string;
}

/**
 * The items of all runs with keys greater than `after`, sorted by key; all items if `after` is empty. The start takes a
 * binary search in each run. Each item takes at most a binary search among the runs.
 */
export function* mergeRuns<Item>(runs: readonly SortedRun<Item>[], after: string): Iterable<Item> {
  // Sorted by key, so that the first head has the next item.
  const heads = runs
    .map((run) => new Head(run, after))
    .filter(({ isDone }) => !isDone)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  while (heads.length > 0) {
    const head = heads[0]!;
    yield head.item;
    head.advance();
    if (head.isDone) heads.shift();
    else if (heads.length > 1 && heads[1]!.key < head.key) {
      heads.shift();
      heads.splice(upperBound(heads, head.key, keyOfHead), 0, head);
    }
  }
}

/** The position of the next item of a run. */
class Head<Item> {
  key = '';
  private index: number;

  constructor(
    private readonly run: SortedRun<Item>,
    after: string,
  ) {
    this.index = after === '' ? 0 : upperBound(run.items, after, (item) => run.keyOf(item));
    this.readKey();
  }

  get isDone(): boolean {
    return this.index >= this.run.items.length;
  }

  get item(): Item {
    return this.run.items[this.index]!;
  }

  advance(): void {
    this.index++;
    this.readKey();
  }

  private readKey(): void {
    if (!this.isDone) this.key = this.run.keyOf(this.item);
  }
}

const keyOfHead = ({ key }: { readonly key: string }): string => key;
