import type { PostingList } from './postings.js';
import type { QueryTerm } from './query.js';
import type { Segment } from './segment.js';
import type { SegmentScores } from './segment-scores.js';
import type { RankRange } from './term-dictionary.js';

/** Weight of a variant relative to an exact match. The ratio of the lengths of term and variant reduces it further. */
const VARIANT_SHARE = 0.6;
const MIN_FUZZY_LENGTH = 5;

/** The terms of one segment that match a query term: the term itself, and its variants. */
interface Matches {
  /** The id of the term itself. */
  readonly exact: number | undefined;
  /** Variants: longer terms that start with the query term. */
  readonly completions: RankRange;
  /** Ids of variants that differ from the query term by one edit. */
  readonly fuzzy: readonly number[];
}

interface CountedMatches extends Matches {
  /** Number of documents with the exact term. */
  readonly exactCount: number;
  /** Sum over the variants of the number of documents with each. */
  readonly variantCount: number;
}

const NO_RANKS: RankRange = { from: 0, to: 0 };
const NO_MATCHES: CountedMatches = {
  exact: undefined,
  completions: NO_RANKS,
  fuzzy: [],
  exactCount: 0,
  variantCount: 0,
};

/** Whether terms within one edit match when no document has the term itself or a completion. */
export type MatchMode = 'fuzzy' | 'no-fuzzy';

/** Scores documents for one term of a query. */
export class TermScorer<Item> {
  private readonly found = new Map<Segment<Item>, CountedMatches>();
  private weight = 0;
  private variantWeight = 0;

  /** `postings` is used as a buffer. */
  constructor(
    private readonly term: QueryTerm,
    private readonly postings: PostingList,
  ) {}

  /** Finds the term in a segment, once. */
  lookUp(segment: Segment<Item>): void {
    if (!this.found.has(segment)) this.found.set(segment, this.withCounts(segment, this.findIn(segment)));
  }

  /** Weighs the term by its frequency in exactly these segments, which have `documents` documents. */
  computeWeights(segments: readonly Segment<Item>[], documents: number, match: MatchMode): void {
    for (const segment of segments) this.lookUp(segment);
    let [exact, variants] = this.sumCounts(segments);
    if (match === 'fuzzy' && exact + variants === 0 && this.term.text.length >= MIN_FUZZY_LENGTH) {
      for (const segment of segments)
        this.found.set(segment, this.withCounts(segment, this.findFuzzyIn(segment)));
      [exact, variants] = this.sumCounts(segments);
    }
    this.weight = inverseDocumentFrequency(exact, documents);
    // Counts the exact matches too. Otherwise a variant that is rarer than the term would weigh more than the term.
    const variantFrequency = Math.min(documents, exact + variants);
    this.variantWeight = inverseDocumentFrequency(variantFrequency, documents) * VARIANT_SHARE;
  }

  score(segment: Segment<Item>, scores: SegmentScores): void {
    const found = this.found.get(segment);
    if (!found || found.exactCount + found.variantCount === 0) return;
    const { exact, completions, fuzzy } = found;
    if (exact !== undefined) {
      segment.read(exact, this.postings);
      const hasCompletions = completions.from < completions.to;
      if (!hasCompletions) scores.addTerm(this.postings, this.weight, this.term.coverage);
      else scores.addMatch(this.postings, this.weight);
    }
    for (let rank = completions.from; rank < completions.to; rank++)
      this.addVariant(segment, segment.terms.idAt(rank), scores);
    for (const id of fuzzy) this.addVariant(segment, id, scores);
    scores.endTerm(this.term.coverage);
  }

  private addVariant(segment: Segment<Item>, id: number, scores: SegmentScores): void {
    const { length } = this.term.text;
    const variantLength = segment.terms.lengthOf(id);
    const similarity = Math.min(length, variantLength) / Math.max(length, variantLength);
    segment.read(id, this.postings);
    scores.addMatch(this.postings, this.variantWeight * similarity);
  }

  private sumCounts(segments: readonly Segment<Item>[]): [exact: number, variants: number] {
    const counts = segments.map((segment) => this.found.get(segment)!);
    return [
      counts.reduce((sum, { exactCount }) => sum + exactCount, 0),
      counts.reduce((sum, { variantCount }) => sum + variantCount, 0),
    ];
  }

  private withCounts(segment: Segment<Item>, found: Matches | undefined): CountedMatches {
    if (!found) return NO_MATCHES;
    const { exact, completions, fuzzy } = found;
    const exactCount = exact === undefined ? 0 : segment.documentCount(exact, this.postings);
    let variantCount = 0;
    for (let rank = completions.from; rank < completions.to; rank++)
      variantCount += segment.documentCount(segment.terms.idAt(rank), this.postings);
    for (const id of fuzzy) variantCount += segment.documentCount(id, this.postings);
    return { ...found, exactCount, variantCount };
  }

  private findIn({ terms }: Segment<Item>): Matches | undefined {
    const { text, isPrefix } = this.term;
    const { from, to } = terms.prefixRange(text);
    if (from === to) return undefined;
    const first = terms.idAt(from);
    const exact = terms.isTerm(first, text) ? first : undefined;
    const completions = isPrefix ? { from: exact === undefined ? from : from + 1, to } : NO_RANKS;
    return { exact, completions, fuzzy: [] };
  }

  private findFuzzyIn({ terms }: Segment<Item>): Matches | undefined {
    const fuzzy = terms.fuzzyMatches(this.term.text);
    return fuzzy.length > 0 ? { exact: undefined, completions: NO_RANKS, fuzzy } : undefined;
  }
}

/** As in BM25. Above 0 even for a term that every document has. */
const inverseDocumentFrequency = (count: number, documents: number): number =>
  Math.log(1 + (documents - count + 0.5) / (count + 0.5));
