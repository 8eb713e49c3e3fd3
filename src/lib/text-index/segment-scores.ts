import { MAX_DOCUMENTS, type PostingList } from './postings.js';

/** What a match of a term covers of the query. */
export interface TermCoverage {
  /** Parts of the query, as bits. */
  readonly coverage: number;
  /** Their share of the information in the query. */
  readonly share: number;
  /**
   * The score from which a match covers the whole share. A lower one, such as in a long description, covers a part of
   * it.
   */
  readonly fullScore: number;
}

/** The scores of the documents of one segment, and the parts of the query that they match. */
export class SegmentScores {
  /** Number of documents with a score. Their ids are at the start of `documents`. */
  size = 0;
  readonly documents = new Uint16Array(MAX_DOCUMENTS);
  readonly values = new Float32Array(MAX_DOCUMENTS);
  /** The bits of `values` read as integers, which have the same order. */
  readonly valueBits = new Uint32Array(this.values.buffer);
  /** By document: the parts of the query that it matches, as bits. */
  readonly coverage = new Uint16Array(MAX_DOCUMENTS);
  /** By document: the share of the query that it matches. Above 1 if it has a token and its parts. */
  private readonly covered = new Float32Array(MAX_DOCUMENTS);

  /** The documents that match the current term, and the score of the best match in each. */
  private matchCount = 0;
  private readonly matches = new Uint16Array(MAX_DOCUMENTS);
  private readonly best = new Float32Array(MAX_DOCUMENTS);

  /** In place of `addMatch` and `endTerm`, for a term that has no variants in this segment. */
  addTerm(
    { documents: matches, weights, size: matchCount }: PostingList,
    weight: number,
    term: TermCoverage,
  ): void {
    const { documents, coverage } = this;
    let { size } = this;
    for (let i = 0; i < matchCount; i++) {
      const document = matches[i]!;
      const before = coverage[document]!;
      if (before === 0) documents[size++] = document;
      coverage[document] = before | term.coverage;
      // Rounded like the values in `best`, so that a document's score does not depend on other terms of its segment.
      this.addScore(document, Math.fround(weight * weights[i]!), term);
    }
    this.size = size;
  }

  /** Adds one match of the current term: the term itself, or a variant. `weight` is above 0. */
  addMatch(postings: PostingList, weight: number): void {
    const { matches, best } = this;
    const { documents, weights, size } = postings;
    let { matchCount } = this;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const score = weight * weights[i]!;
      const before = best[document]!;
      if (before === 0) matches[matchCount++] = document;
      if (score > before) best[document] = score;
    }
    this.matchCount = matchCount;
  }

  /** Adds the best match of the current term to each score, and starts the next term. */
  endTerm(term: TermCoverage): void {
    const { documents, coverage, matchCount, matches, best } = this;
    let { size } = this;
    for (let i = 0; i < matchCount; i++) {
      const document = matches[i]!;
      const before = coverage[document]!;
      if (before === 0) documents[size++] = document;
      coverage[document] = before | term.coverage;
      this.addScore(document, best[document]!, term);
      best[document] = 0;
    }
    this.size = size;
    this.matchCount = 0;
  }

  private addScore(document: number, score: number, { share, fullScore }: TermCoverage): void {
    this.values[document]! += score;
    this.covered[document]! += score < fullScore ? (share * score) / fullScore : share;
  }

  /**
   * Adds `context` to each score and multiplies the sum by the share of the query that the document matches. Drops
   * documents whose words have less than `minShare` of the query. `shares` has the share for each value of `coverage`.
   * Called once, at the end.
   */
  applyCoverage(shares: Float32Array, minShare: number, context: number): void {
    const { documents, values, coverage, covered, size } = this;
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const share = Math.min(1, covered[document]!);
      covered[document] = 0;
      if (shares[coverage[document]!]! < minShare) {
        values[document] = coverage[document] = 0;
        continue;
      }
      values[document] = (values[document]! + context) * share;
      documents[kept++] = document;
    }
    this.size = kept;
  }

  /** Drops documents whose kind does not pass. */
  filterKinds(kinds: Uint16Array, passing: Uint8Array): void {
    const { documents, values, coverage, size } = this;
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (passing[kinds[document]!] === 1) documents[kept++] = document;
      else values[document] = coverage[document] = 0;
    }
    this.size = kept;
  }

  /** Resets all scores for the next segment. */
  clear(): void {
    for (let i = 0; i < this.size; i++) {
      const document = this.documents[i]!;
      this.values[document] = 0;
      this.coverage[document] = 0;
      this.covered[document] = 0;
    }
    this.size = 0;
  }
}
