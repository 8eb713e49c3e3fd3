import { Best } from './best.js';
import { parseQuery, type Query } from './query.js';
import type { SearchIndex } from './search-index.js';
import type { Segment } from './segment.js';
import { SoughtWord } from './sought-word.js';
import { Tally } from './tally.js';

export interface SearchOptions<Item> {
  readonly limit: number;
  /** Only asked about items that would be among the results. */
  readonly filter?: ((item: Item) => boolean) | undefined;
  /** The order of items that score the same. */
  readonly compare: (a: Item, b: Item) => number;
}

/** Shorter words are sought among longer ones only when they may still be being typed. */
const LEAST_PREFIX = 3;

/**
 * Best first. Any word of the query is enough, more are better. How rare a word is, is counted over exactly these
 * indexes, so that the order tells nothing about others.
 */
export function search<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  { limit, filter = () => true, compare }: SearchOptions<Item>,
): Item[] {
  const query = parseQuery(text, (word, isLast) => isLast || word.length >= LEAST_PREFIX);
  const best = new Best(limit, compare, filter);
  const parts = bitsIn(query.all);
  tallied(indexes, query, true, (segment, { documents, scores, covered, size }) => {
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const score = (scores[document]! * bitsIn(covered[document]!)) / parts;
      if (score >= best.leastScore) best.offer(segment.at(document)!, score);
    }
  });
  return best.take();
}

/** Every item that has all words of the query, the last one as a prefix; all items when there are no words. */
export function matching<Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> {
  const query = parseQuery(text, (_word, isLast) => isLast);
  const items: Item[] = [];
  tallied(indexes, query, false, (segment, { documents, covered, size }) => {
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (covered[document] === query.all) items.push(segment.at(document)!);
    }
  });
  return items;
}

function tallied<Item>(
  indexes: readonly SearchIndex<Item>[],
  query: Query,
  allowTypos: boolean,
  use: (segment: Segment<Item>, tally: Tally) => void,
): void {
  const segments = indexes.flatMap((index) => index.segments);
  const documents = indexes.reduce((sum, index) => sum + index.size, 0);
  const words = query.words.map((word) => new SoughtWord(word));
  for (const word of words) word.weigh(segments, documents, allowTypos);
  const tally = new Tally();
  for (const segment of segments) {
    for (const word of words) word.tally(segment, tally);
    use(segment, tally);
    tally.clear();
  }
}

function bitsIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}
