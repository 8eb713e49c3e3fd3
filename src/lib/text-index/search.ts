import { Best } from './best.js';
import type { Kinds } from './kinds.js';
import { Entries } from './postings.js';
import type { Yield } from '../slices/slices.js';
import { bitsIn, parseQuery, type Query } from './query.js';
import type { SearchIndex } from './search-index.js';
import type { Segment } from './segment.js';
import { SoughtWord } from './sought-word.js';
import { Tally } from './tally.js';

export interface SearchOptions {
  readonly limit: number;
  /** Only what is of a kind that passes. */
  readonly kind?: ((name: string) => boolean) | undefined;
}

/** Shorter words are sought among longer ones only when they may still be being typed. */
const LEAST_PREFIX = 3;
const RANKS = 0x10000;

/**
 * Best first. Any word of the query is enough, more are better. How rare a word is, is counted over exactly these
 * indexes, so that the order tells nothing about others. Items that score the same come in the indexes' own order.
 */
export function search<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  options: SearchOptions,
): Item[] {
  const steps = searchSteps(indexes, text, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, giving way while it works. What is added meanwhile is not found, what is removed may be. */
export async function slicedSearch<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  options: SearchOptions,
  yieldIfDue: Yield,
): Promise<Item[]> {
  const steps = searchSteps(indexes, text, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await yieldIfDue();
  }
}

function* searchSteps<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  { limit, kind }: SearchOptions,
): Generator<void, Item[]> {
  const query = parseQuery(text, (word, isLast) => isLast || word.length >= LEAST_PREFIX);
  const best = new Best<Item>(limit, (a, b) => indexes[0]!.compare(a, b));
  const passing = new Passing(kind);
  const sweep = new Sweep(indexes, query);
  yield* sweep.look();
  for (const segments of sweep.weigh('with typos')) {
    for (const segment of segments) {
      const tally = sweep.tallyOf(segment);
      tally.weighCoverage(bitsIn(query.all));
      if (kind) tally.keep(segment.kindNumbers, passing.in(segment.kinds));
      const documents = new Best<number>(limit, notCompared);
      select(tally, segment.ranks, best.leastScore, documents);
      for (const { item: document } of documents.take())
        best.offer(segment.at(document)!, tally.scores[document]!);
    }
    yield;
  }
  return best.take().map(({ item }) => item);
}

/**
 * Every item that has all words of the query, the last one as a prefix; all items when there are no words. Found as
 * they are taken, so that whoever takes them can give way.
 */
export function* matching<Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> {
  const query = parseQuery(text, (_word, isLast) => isLast);
  const sweep = new Sweep(indexes, query);
  for (const segments of sweep.weigh('as written')) {
    const items: Item[] = [];
    for (const segment of segments) {
      if (query.words.length === 0) items.push(...segment.all);
      else collect(segment, sweep.tallyOf(segment), query.all, items);
    }
    yield* items;
  }
}

/** The kinds that pass, found out once for each index. */
class Passing {
  private readonly known = new Map<Kinds, Uint8Array>();

  constructor(private readonly test: (name: string) => boolean = () => true) {}

  in(kinds: Kinds): Uint8Array {
    let passing = this.known.get(kinds);
    if (!passing) this.known.set(kinds, (passing = kinds.passing(this.test)));
    return passing;
  }
}

/** Goes through the indexes with the words of a query. */
class Sweep<Item> {
  private readonly words: readonly SoughtWord<Item>[];
  private readonly tally = new Tally();

  constructor(
    private readonly indexes: readonly SearchIndex<Item>[],
    query: Query,
  ) {
    const entries = new Entries();
    this.words = query.words.map((word) => new SoughtWord<Item>(word, entries));
  }

  /** Finds the words in what nothing but gaps comes into any more, and stops in between for others. */
  *look(): Generator<void, void> {
    for (const segment of this.segments) {
      if (!segment.isSealed) continue;
      for (const word of this.words) word.look(segment);
      yield;
    }
  }

  /**
   * What belongs together in one go. Segments that can still be added to number their words anew, so that they come
   * first and all at once. Those that are gone by now have left what they had to others.
   */
  weigh(spelling: 'with typos' | 'as written'): readonly (readonly Segment<Item>[])[] {
    const { segments } = this;
    const documents = this.indexes.reduce((sum, index) => sum + index.size, 0);
    for (const word of this.words) word.weigh(segments, documents, spelling === 'with typos');
    return [
      segments.filter(({ isSealed }) => !isSealed),
      ...segments.filter(({ isSealed }) => isSealed).map((segment) => [segment]),
    ];
  }

  /** It lasts until the next one is asked for. */
  tallyOf(segment: Segment<Item>): Tally {
    this.tally.clear();
    for (const word of this.words) word.tally(segment, this.tally);
    return this.tally;
  }

  private get segments(): readonly Segment<Item>[] {
    return this.indexes.flatMap((index) => index.segments);
  }
}

/** The score and the rank in one number, by which documents are told apart without a look at their items. */
function select(tally: Tally, ranks: Uint16Array, leastScore: number, best: Best<number>): void {
  const { documents, scores, scoreBits, size } = tally;
  let leastKey = best.leastScore;
  for (let i = 0; i < size; i++) {
    const document = documents[i]!;
    if (scores[document]! < leastScore) continue;
    const key = scoreBits[document]! * RANKS + (RANKS - 1 - ranks[document]!);
    if (key <= leastKey) continue;
    best.offer(document, key);
    leastKey = best.leastScore;
  }
}

function collect<Item>(segment: Segment<Item>, tally: Tally, all: number, items: Item[]): void {
  const { documents, covered, size } = tally;
  for (let i = 0; i < size; i++) {
    if (covered[documents[i]!] === all) items.push(segment.at(documents[i]!)!);
  }
}

const notCompared = (): number => 0;
