import type { PostingList } from './postings.js';
import type { QueryTerm } from './query.js';
import type { Segment } from './segment.js';
import type { SegmentScores, TermCoverage } from './segment-scores.js';
import type { RankRange, TermDictionary } from './term-dictionary.js';
import { STEPS_PER_UNIT } from './term-weights.js';

/** Weight of another form of the word relative to an exact match. */
const FORM_SHARE = 0.7;
/**
 * Weight of a variant relative to an exact match. It is multiplied by the ratio of the lengths of term and variant. A
 * variant is a longer term that starts with the query term, or a term within one edit.
 */
const VARIANT_SHARE = 0.45;
/** A term with less weight in a document covers only a part of its share of the query. */
const FULL_WEIGHT = 0.15;
/** Shorter query terms match no terms within one edit. */
const MIN_FUZZY_LENGTH = 5;

/** The terms of one segment that match a query term: the term itself, other forms of the word, and variants. */
interface Matches {
  /** The id of the term itself. */
  readonly exact: number | undefined;
  /** Ids of other forms of the word. */
  readonly forms: readonly number[];
  /** Ranks of the variants that start with the query term. */
  readonly completions: RankRange;
  /** Ids of the variants within one edit of the query term. */
  readonly fuzzy: readonly number[];
}

interface CountedMatches extends Matches {
  /** Number of documents with the exact term, plus the number of documents with each of its forms. */
  readonly wordCount: number;
  /** Sum of the numbers of documents with each variant. */
  readonly variantCount: number;
}

const NO_RANKS: RankRange = { from: 0, to: 0 };
const NO_MATCHES: CountedMatches = {
  exact: undefined,
  forms: [],
  completions: NO_RANKS,
  fuzzy: [],
  wordCount: 0,
  variantCount: 0,
};

/** Whether terms within one edit match when no document has the term itself, another form or a completion. */
export type MatchMode = 'fuzzy' | 'no-fuzzy';

/** Scores documents for one term of a query. */
export class TermScorer<Item> implements TermCoverage {
  private readonly matchesBySegment = new Map<Segment<Item>, CountedMatches>();
  /** How rare the term is: its inverse document frequency, or that of its variants if no document has the term. */
  information = 0;
  /** The term's share in the information of the query. Set by the caller when the weights of all terms are computed. */
  share = 0;
  fullScore = 0;
  private weight = 0;
  private variantWeight = 0;

  /** The common prefix of the term and its forms. */
  private readonly commonPrefix: string;

  /** `postings` is used as a buffer. */
  constructor(
    private readonly term: QueryTerm,
    private readonly postings: PostingList,
  ) {
    this.commonPrefix = term.forms.reduce(commonPrefixOf, term.text);
  }

  get coverage(): number {
    return this.term.coverage;
  }

  /** Finds the matches in a segment. Has no effect if they were found before. */
  lookUp(segment: Segment<Item>): void {
    if (!this.matchesBySegment.has(segment))
      this.matchesBySegment.set(segment, this.withCounts(segment, this.findIn(segment)));
  }

  /** Computes the weight of the term from its frequency in these segments, which have `documents` documents in total. */
  computeWeights(segments: readonly Segment<Item>[], documents: number, match: MatchMode): void {
    for (const segment of segments) this.lookUp(segment);
    let { wordCount, variantCount } = this.sumCounts(segments);
    const hasNoMatch = wordCount + variantCount === 0;
    if (match === 'fuzzy' && hasNoMatch && this.term.text.length >= MIN_FUZZY_LENGTH) {
      for (const segment of segments)
        this.matchesBySegment.set(segment, this.withCounts(segment, this.findFuzzyIn(segment)));
      ({ wordCount, variantCount } = this.sumCounts(segments));
    }
    this.weight = inverseDocumentFrequency(Math.min(documents, wordCount), documents);
    // The frequency of variants includes `wordCount`. Without it, a variant that is rarer than the word would weigh more.
    const variantFrequency = Math.min(documents, wordCount + variantCount);
    const variantWeight = inverseDocumentFrequency(variantFrequency, documents);
    this.variantWeight = variantWeight * VARIANT_SHARE;
    this.information = wordCount > 0 ? this.weight : variantWeight;
    this.fullScore = this.information * FULL_WEIGHT * STEPS_PER_UNIT;
  }

  /** Number of documents of a segment with the term, another form of it or a variant. */
  matchCount(segment: Segment<Item>): number {
    const { exact, forms, completions, fuzzy } = this.matchesBySegment.get(segment) ?? NO_MATCHES;
    const matching = new Set<number>();
    const add = (id: number): void => {
      segment.read(id, this.postings);
      for (let i = 0; i < this.postings.size; i++) matching.add(this.postings.documents[i]!);
    };
    if (exact !== undefined) add(exact);
    for (const id of forms) add(id);
    for (let rank = completions.from; rank < completions.to; rank++) add(segment.terms.idAt(rank));
    for (const id of fuzzy) add(id);
    return matching.size;
  }

  /** Adds the matches of the term in a segment to `scores`. */
  score(segment: Segment<Item>, scores: SegmentScores): void {
    const matches = this.matchesBySegment.get(segment);
    if (!matches || matches.wordCount + matches.variantCount === 0) return;
    const { exact, forms, completions, fuzzy } = matches;
    if (exact !== undefined) {
      segment.read(exact, this.postings);
      const isOnlyMatch = completions.from === completions.to && forms.length === 0;
      if (isOnlyMatch) scores.addTerm(this.postings, this.weight, this);
      else scores.addMatch(this.postings, this.weight);
    }
    for (const id of forms) {
      segment.read(id, this.postings);
      scores.addMatch(this.postings, this.weight * FORM_SHARE);
    }
    for (let rank = completions.from; rank < completions.to; rank++)
      this.addVariant(segment, segment.terms.idAt(rank), scores);
    for (const id of fuzzy) this.addVariant(segment, id, scores);
    scores.endTerm(this);
  }

  private addVariant(segment: Segment<Item>, id: number, scores: SegmentScores): void {
    const { length } = this.term.text;
    const variantLength = segment.terms.lengthOf(id);
    const similarity = Math.min(length, variantLength) / Math.max(length, variantLength);
    segment.read(id, this.postings);
    scores.addMatch(this.postings, this.variantWeight * similarity);
  }

  private sumCounts(segments: readonly Segment<Item>[]): Pick<CountedMatches, 'wordCount' | 'variantCount'> {
    const counts = segments.map((segment) => this.matchesBySegment.get(segment)!);
    return {
      wordCount: counts.reduce((sum, matches) => sum + matches.wordCount, 0),
      variantCount: counts.reduce((sum, matches) => sum + matches.variantCount, 0),
    };
  }

  private withCounts(segment: Segment<Item>, matches: Matches | undefined): CountedMatches {
    if (!matches) return NO_MATCHES;
    const { exact, forms, completions, fuzzy } = matches;
    let wordCount = exact === undefined ? 0 : segment.documentCount(exact, this.postings);
    for (const id of forms) wordCount += segment.documentCount(id, this.postings);
    let variantCount = 0;
    for (let rank = completions.from; rank < completions.to; rank++)
      variantCount += segment.documentCount(segment.terms.idAt(rank), this.postings);
    for (const id of fuzzy) variantCount += segment.documentCount(id, this.postings);
    return { ...matches, wordCount, variantCount };
  }

  private findIn({ terms }: Segment<Item>): Matches | undefined {
    const { text, isPrefix } = this.term;
    const forms = this.findFormsIn(terms);
    const { from, to } = terms.prefixRange(text);
    if (from === to) return forms.length > 0 ? { ...NO_MATCHES, forms } : undefined;
    const first = terms.idAt(from);
    const exact = terms.isTerm(first, text) ? first : undefined;
    const completions = isPrefix ? { from: exact === undefined ? from : from + 1, to } : NO_RANKS;
    return { exact, forms, completions, fuzzy: [] };
  }

  private findFuzzyIn({ terms }: Segment<Item>): Matches | undefined {
    const fuzzy = terms.fuzzyMatches(this.term.text);
    return fuzzy.length > 0 ? { ...NO_MATCHES, fuzzy } : undefined;
  }

  /** Looks for the forms only among the terms that start with their common prefix, because these are few. */
  private findFormsIn(terms: TermDictionary): number[] {
    const { forms } = this.term;
    if (forms.length === 0) return [];
    const candidates = terms.prefixRange(this.commonPrefix);
    if (candidates.from === candidates.to) return [];
    return forms.flatMap((form) => terms.idOf(form, candidates) ?? []);
  }
}

function commonPrefixOf(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}

/** The inverse document frequency of BM25. It is above 0 even for a term that every document has. */
const inverseDocumentFrequency = (count: number, documents: number): number =>
  Math.log(1 + (documents - count + 0.5) / (count + 0.5));
