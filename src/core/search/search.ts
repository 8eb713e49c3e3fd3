import { Best } from './best.js';
import { Entries } from './postings.js';
import { bitsIn, parseQuery, type Query } from './query.js';
import type { SearchIndex } from './search-index.js';
import type { Segment } from './segment.js';
import { SoughtWord } from './sought-word.js';
import { Tally } from './tally.js';

export interface SearchOptions<Item> {
  readonly limit: number;
  /** Only asked about items that would be among the results. */
  readonly filter?: ((item: Item) => boolean) | undefined;
}

/** Shorter words are sought among longer ones only when they may still be being typed. */
const LEAST_PREFIX = 3;

/**
 * Best first. Any word of the query is enough, more are better. How rare a word is, is counted over exactly these
 * indexes, so that the order tells nothing about others. Items that score the same come in the indexes' own order.
 */
export function search<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  { limit, filter = acceptAll }: SearchOptions<Item>,
): Item[] {
  const query = parseQuery(text, (word, isLast) => isLast || word.length >= LEAST_PREFIX);
  const best = new Best<Item>(limit, (a, b) => indexes[0]!.compare(a, b), acceptAll);
  const sweep = new Sweep(indexes, query, 'with typos');
  for (const segment of sweep.segments) {
    const ofSegment = new Best(limit, segment.compare, (document: number) => filter(segment.at(document)!));
    rank(sweep.tallyOf(segment), bitsIn(query.all), best.leastScore, ofSegment);
    for (const { item: document, score } of ofSegment.take()) best.offer(segment.at(document)!, score);
  }
  return best.take().map(({ item }) => item);
}

/** Every item that has all words of the query, the last one as a prefix; all items when there are no words. */
export function matching<Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> {
  const query = parseQuery(text, (_word, isLast) => isLast);
  if (query.words.length === 0)
    return indexes.flatMap((index) => index.segments.flatMap(({ all }) => [...all]));
  const items: Item[] = [];
  const sweep = new Sweep(indexes, query, 'as written');
  for (const segment of sweep.segments) collect(segment, sweep.tallyOf(segment), query.all, items);
  return items;
}

/** Goes through the indexes with the words of a query. */
class Sweep<Item> {
  readonly segments: readonly Segment<Item>[];
  private readonly words: readonly SoughtWord<Item>[];
  private readonly tally = new Tally();

  constructor(indexes: readonly SearchIndex<Item>[], query: Query, spelling: 'with typos' | 'as written') {
    this.segments = indexes.flatMap((index) => index.segments);
    const entries = new Entries();
    this.words = query.words.map((word) => new SoughtWord<Item>(word, entries));
    const documents = indexes.reduce((sum, index) => sum + index.size, 0);
    for (const word of this.words) word.weigh(this.segments, documents, spelling === 'with typos');
  }

  /** It lasts until the next one is asked for. */
  tallyOf(segment: Segment<Item>): Tally {
    this.tally.clear();
    for (const word of this.words) word.tally(segment, this.tally);
    return this.tally;
  }
}

/** The share of the query that a document meets is a factor of its score. */
function rank(tally: Tally, parts: number, leastScore: number, best: Best<number>): void {
  const { documents, scores, covered, size } = tally;
  let least = leastScore;
  for (let i = 0; i < size; i++) {
    const document = documents[i]!;
    if (scores[document]! < least) continue;
    const score = (scores[document]! * bitsIn(covered[document]!)) / parts;
    if (score < least) continue;
    best.offer(document, score);
    least = Math.max(least, best.leastScore);
  }
}

function collect<Item>(segment: Segment<Item>, tally: Tally, all: number, items: Item[]): void {
  const { documents, covered, size } = tally;
  for (let i = 0; i < size; i++) {
    if (covered[documents[i]!] === all) items.push(segment.at(documents[i]!)!);
  }
}

const acceptAll = (): boolean => true;
