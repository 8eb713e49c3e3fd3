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
   * Raises the scores of all items of an index in which many items have the terms of the query. Useful if each index is
   * about one subject.
   */
  readonly contextBoost?: number | undefined;
}

/** An item that matches a smaller share of the query is not found: it matches common words only. */
const MIN_SHARE = 0.2;
/** Ranks are less than this. */
const MAX_RANKS = 0x10000;

/**
 * Items that match enough of the query, best first. Document frequencies are counted over exactly these indexes, so
 * that the ranking reveals nothing about other indexes. `compare` of the index orders items of equal score.
 */
export function search<Item>(
  indexes: readonly SearchIndex<Item>[],
  text: string,
  options: SearchOptions,
): Item[] {
  return runAtOnce(searchSteps(indexes, text, options));
}

/** `search` in slices. Does not find items that are added during the search; may find items that are removed during it. */
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
  const contexts = contextBoost > 0 ? run.contexts(contextBoost) : new Map<Segment<Item>, number>();
  for (const segments of run.segmentGroups) {
    for (const segment of segments) {
      const scores = run.scoresOf(segment);
      scores.applyCoverage(shares, MIN_SHARE, contexts.get(segment) ?? 0);
      if (isKind) scores.filterKinds(segment.documentKinds, kindFilter.passingIn(segment.kinds));
      const documents = new TopK<number>(limit, compareEqualKeys);
      selectBest(scores, segment.ranks, best.minScore, documents);
      for (const { item: document } of documents.take())
        best.offer(segment.itemAt(document)!, scores.values[document]!);
    }
    yield;
  }
  return best.take().map(({ item }) => item);
}

/**
 * Items that match all terms of the query, the last one as a prefix; all items when the query has no terms. Found
 * lazily, so that the caller can yield to the event loop between items.
 */
export const matching = <Item>(indexes: readonly SearchIndex<Item>[], text: string): Iterable<Item> =>
  matchingQuery(indexes, parseQuery(text));

/** Items that match all terms of a ranked search; none when the query has no terms. Found lazily. */
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

/** The kinds that pass a test, computed once for each index. */
class KindFilter {
  private readonly cache = new Map<KindTable, Uint8Array>();

  constructor(private readonly test: (name: string) => boolean = () => true) {}

  passingIn(kinds: KindTable): Uint8Array {
    let passing = this.cache.get(kinds);
    if (!passing) this.cache.set(kinds, (passing = kinds.passing(this.test)));
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

  /** Finds the terms in sealed segments, which only lose documents; one step for each segment. */
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
   * For every combination of query parts, as bits: its share of the information in the query, of which rare words have
   * more. Also sets `share` of each term.
   */
  computeShares(): Float32Array {
    const { terms, fullCoverage } = this.query;
    const shares = new Float32Array(fullCoverage + 1);
    for (const [index, { coverage }] of terms.entries()) {
      // A whole token adds nothing to its parts, which are terms too.
      if (bitCount(coverage) > 1) continue;
      const { information } = this.terms[index]!;
      for (let rest = 0; rest < coverage; rest++) shares[coverage + rest] = shares[rest]! + information;
    }
    const total = shares[fullCoverage]!;
    const normalized = shares.map((information) => information / total);
    for (const term of this.terms) term.share = normalized[term.coverage]!;
    return normalized;
  }

  /**
   * By segment: what `contextBoost` adds to its scores. Computed from the share of documents of its index with each
   * term.
   */
  contexts(boost: number): Map<Segment<Item>, number> {
    const contexts = new Map<Segment<Item>, number>();
    for (const { segments, size } of this.indexes) {
      const shareOf = (term: TermScorer<Item>): number =>
        segments.reduce((sum, segment) => sum + term.matchCount(segment), 0) / size;
      const context = this.terms.reduce((sum, term) => sum + term.information * shareOf(term), 0);
      for (const segment of segments) contexts.set(segment, context * boost * STEPS_PER_UNIT);
    }
    return contexts;
  }

  /**
   * The current segments, in groups that are each scored in one step. All open segments are the first group, because
   * their term ids change when they are sealed.
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

/** Offers documents to `best` under keys that combine score and rank in one number, so that no items are compared. */
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

/** `TopK` needs an order for equal scores. Here the scores are the keys of documents, which are unique. */
const compareEqualKeys = (): number => 0;
