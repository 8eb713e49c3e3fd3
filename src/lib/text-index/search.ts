import { runAtOnce, runSliced, type Steps } from '../slices/run-sliced.js';
import type { Yield } from '../slices/slices.js';
import { PostingList } from './postings.js';
import { bitCount, parseQuery, parseRankedQuery, type Query } from './query.js';
import type { SearchIndex } from './search-index.js';
import type { KindTable, Segment } from './segment.js';
import { SegmentScores } from './segment-scores.js';
import { TermScorer, type MatchMode } from './term-scorer.js';
import { STEPS_PER_UNIT } from './term-weights.js';
import { TopK } from './top-k.js';

interface SearchOptions {
  readonly limit: number;
  /** Finds only items whose kind passes this test. */
  readonly isKind?: ((kind: string) => boolean) | undefined;
  /**
   * How much the scores of all items of an index are raised if many of its items have the terms of the query. Useful if
   * each index is about one subject. 0 or undefined turns this off.
   */
  readonly contextBoost?: number | undefined;
}

/** An item that matches a smaller share of the query is not found, because it matches only common words. */
const MIN_SHARE = 0.2;
/** Number of possible ranks. A rank takes 16 bits. */
const MAX_RANKS = 0x10000;

/**
 * Items that match enough of the query, best first. The `compare` function of the indexes orders items with the same score.
 * Document frequencies are counted over exactly these indexes, so that the ranking reveals nothing about other indexes.
 */
export function search<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  options: SearchOptions,
): Item[] {
  return runAtOnce(searchSteps(indexes, text, options));
}

/**
 * `search` in slices. It does not find items that are added during the search, and may find items that are removed during
 * it.
 */
export function slicedSearch<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  options: SearchOptions,
  yieldIfDue: Yield,
): Promise<Item[]> {
  return runSliced(searchSteps(indexes, text, options), yieldIfDue);
}

function* searchSteps<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  { limit, isKind, contextBoost = 0 }: SearchOptions,
): Steps<Item[]> {
  const query = parseRankedQuery(text);
  const best = new TopK<Item>(limit, (a, b) => indexes[0]!.compare(a, b));
  const kindFilter = new KindFilter(isKind);
  const run = new QueryRun(indexes, query);
  yield* run.lookUpTerms();
  run.computeWeights('fuzzy');
  const shares = run.computeShares();
  const contextScores = contextBoost > 0 ? run.contextScores(contextBoost) : new Map<Segment<Item>, number>();
  for (const segments of run.segmentGroups) {
    for (const segment of segments) {
      const scores = run.scoresOf(segment);
      scores.applyCoverage(shares, MIN_SHARE, contextScores.get(segment) ?? 0);
      if (isKind) scores.filterKinds(segment.documentKinds, kindFilter.passingIn(segment.kinds));
      // `selectBest` compares only numbers, not items. Only the documents that it selects compete as items.
      const bestOfSegment = new TopK<number>(limit, compareEqualKeys);
      selectBest(scores, segment.ranks, best.minScore, bestOfSegment);
      for (const { item: document } of bestOfSegment.take())
        best.offer(segment.itemAt(document)!, scores.values[document]!);
    }
    yield;
  }
  return best.take().map(({ item }) => item);
}

/**
 * Items that match all terms of the query. The last term is a prefix. A query without terms matches all items.
 * Items are found while the caller iterates, so that the caller can yield to the event loop between items.
 */
export const matching = <Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> =>
  matchingQuery(indexes, parseQuery(text));

/** Like `matching`, for the terms of a ranked search. A query without terms matches no items. */
export function matchingRanked<Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> {
  const query = parseRankedQuery(text);
  return query.terms.length === 0 ? [] : matchingQuery(indexes, query);
}

function* matchingQuery<Item>(indexes: readonly SearchIndex<Item>[], query: Query): Iterable<Item> {
  const run = new QueryRun(indexes, query);
  run.computeWeights('no-fuzzy');
  for (const segments of run.segmentGroups) {
    const items: Item[] = [];
    for (const segment of segments) {
      if (query.terms.length === 0) items.push(...segment.liveItems);
      else collectFullMatches(segment, run.scoresOf(segment), query.fullCoverage, items);
    }
    yield* items;
  }
}

/** Computes once for each index which kinds pass a test. */
class KindFilter {
  private readonly cache = new Map<KindTable, Uint8Array>();

  constructor(private readonly test: (name: string) => boolean = () => true) {}

  passingIn(kinds: KindTable): Uint8Array {
    const passing = this.cache.get(kinds) ?? kinds.passing(this.test);
    this.cache.set(kinds, passing);
    return passing;
  }
}

/** One query over the segments of several indexes. */
class QueryRun<Item> {
  private readonly terms: readonly TermScorer<Item>[];
  private readonly scores = new SegmentScores();

  constructor(
    private readonly indexes: readonly SearchIndex<Item>[],
    private readonly query: Query,
  ) {
    const postings = new PostingList();
    this.terms = query.terms.map((term) => new TermScorer<Item>(term, postings));
  }

  /**
   * Finds the terms in the sealed segments, one segment in each step. The result stays valid between steps, because no
   * document is added to a sealed segment.
   */
  *lookUpTerms(): Steps {
    for (const segment of this.segments) {
      if (!segment.isSealed) continue;
      for (const term of this.terms) term.lookUp(segment);
      yield;
    }
  }

  computeWeights(match: MatchMode): void {
    const { segments } = this;
    const documents = this.indexes.reduce((sum, index) => sum + index.size, 0);
    for (const term of this.terms) term.computeWeights(segments, documents, match);
  }

  /**
   * Computes the share of each combination of query parts in the information of the whole query. The index in the result is
   * the combination, one bit for each part. Rare words have more information. Also sets `share` of each term.
   */
  computeShares(): Float32Array {
    const { terms, fullCoverage } = this.query;
    const shares = new Float32Array(fullCoverage + 1);
    for (const [index, { coverage }] of terms.entries()) {
      // A whole token adds nothing to its parts, which are terms too.
      const isWholeToken = bitCount(coverage) > 1;
      if (isWholeToken) continue;
      const { information } = this.terms[index]!;
      // `coverage` is one bit, and the combinations of the lower bits are computed already.
      for (let lowerBits = 0; lowerBits < coverage; lowerBits++)
        shares[coverage + lowerBits] = shares[lowerBits]! + information;
    }
    const total = shares[fullCoverage]!;
    const normalized = shares.map((information) => information / total);
    for (const term of this.terms) term.share = normalized[term.coverage]!;
    return normalized;
  }

  /**
   * The score that `contextBoost` adds to the documents of each segment. It grows with the share of the documents of the
   * index that match each term.
   */
  contextScores(boost: number): Map<Segment<Item>, number> {
    const contextScores = new Map<Segment<Item>, number>();
    for (const { segments, size } of this.indexes) {
      const shareOfDocumentsWith = (term: TermScorer<Item>): number =>
        segments.reduce((sum, segment) => sum + term.matchCount(segment), 0) / size;
      const context = this.terms.reduce(
        (sum, term) => sum + term.information * shareOfDocumentsWith(term),
        0,
      );
      for (const segment of segments) contextScores.set(segment, context * boost * STEPS_PER_UNIT);
    }
    return contextScores;
  }

  /**
   * The current segments in groups. Each group is scored in one step. The open segments of all indexes form the first
   * group, so that there is no pause between finding their terms and scoring them: an open segment may be sealed in a pause,
   * and sealing changes its term ids.
   */
  get segmentGroups(): readonly (readonly Segment<Item>[])[] {
    const { segments } = this;
    return [
      segments.filter(({ isSealed }) => !isSealed),
      ...segments.filter(({ isSealed }) => isSealed).map((segment) => [segment]),
    ];
  }

  /** The scores of one segment. The next call reuses the object. */
  scoresOf(segment: Segment<Item>): SegmentScores {
    this.scores.clear();
    for (const term of this.terms) term.score(segment, this.scores);
    return this.scores;
  }

  private get segments(): readonly Segment<Item>[] {
    return this.indexes.flatMap((index) => index.segments);
  }
}

/**
 * Offers documents to `best` under keys that combine score and rank in one number: a higher score gives a higher key, and
 * so does a lower rank for the same score. Then no items need to be compared.
 */
function selectBest(scores: SegmentScores, ranks: Uint16Array, minScore: number, best: TopK<number>): void {
  const { documents, values, valueBits, size } = scores;
  let minKey = best.minScore;
  for (let i = 0; i < size; i++) {
    const document = documents[i]!;
    if (values[document]! < minScore) continue;
    const key = valueBits[document]! * MAX_RANKS + (MAX_RANKS - 1 - ranks[document]!);
    if (key <= minKey) continue;
    best.offer(document, key);
    minKey = best.minScore;
  }
}

/** Appends the items that match all parts of the query. */
function collectFullMatches<Item>(
  segment: Segment<Item>,
  scores: SegmentScores,
  fullCoverage: number,
  items: Item[],
): void {
  const { documents, coverage, size } = scores;
  for (let i = 0; i < size; i++) {
    if (coverage[documents[i]!] === fullCoverage) items.push(segment.itemAt(documents[i]!)!);
  }
}

/** `TopK` needs an order for equal scores. Here the scores are the keys of `selectBest`, which are never equal. */
const compareEqualKeys = (): number => 0;
