import { MAX_DOCUMENTS, type PostingList } from './postings.js';

/** The part of the query that a match of a term covers. */
export interface TermCoverage {
  /** The covered parts of the query, one bit for each part. */
  readonly coverage: number;
  /** The share of the covered parts in the information of the query. */
  readonly share: number;
  /** A match with this score or more covers the whole share. A lower score, as in a long description, covers less of it. */
  readonly fullScore: number;
}

/** The scores of the documents of one segment, and the parts of the query that they match. */
export class SegmentScores {
  /** Number of documents with a score. Their ids are at the start of `documents`. */
  size = 0;
  readonly documents = new Uint16Array(MAX_DOCUMENTS);
  readonly values = new Float32Array(MAX_DOCUMENTS);
  /** The bits of `values` as integers. Floats that are not negative have the same order as their bits. */
  readonly valueBits = new Uint32Array(this.values.buffer);
  /** By document: the parts of the query that it matches, one bit for each part. */
  readonly coverage = new Uint16Array(MAX_DOCUMENTS);
  /**
   * By document: the sum of the shares that its matches cover, where a match below `fullScore` covers a part of its share.
   * The sum may be above 1 if the document has a token and also its parts.
   */
  private readonly coveredShares = new Float32Array(MAX_DOCUMENTS);

  /** The documents that match the current term, and by document the score of its best match. */
  private matchCount = 0;
  private readonly matches = new Uint16Array(MAX_DOCUMENTS);
  private readonly bestScores = new Float32Array(MAX_DOCUMENTS);

  /** `addMatch` and `endTerm` in one pass, for a term without other forms and variants in this segment. */
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
      // Rounded like the values in `bestScores`, so that a score does not depend on whether the segment has variants of the
      // term.
      this.addScore(document, Math.fround(weight * weights[i]!), term);
    }
    this.size = size;
  }

  /** Adds the postings of the current term itself, of another form or of a variant. `weight` is above 0. */
  addMatch(postings: PostingList, weight: number): void {
    const { matches, bestScores } = this;
    const { documents, weights, size } = postings;
    let { matchCount } = this;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const score = weight * weights[i]!;
      const before = bestScores[document]!;
      if (before === 0) matches[matchCount++] = document;
      if (score > before) bestScores[document] = score;
    }
    this.matchCount = matchCount;
  }

  /** Adds the best match of the current term to the score of each document, and starts the next term. */
  endTerm(term: TermCoverage): void {
    const { documents, coverage, matchCount, matches, bestScores } = this;
    let { size } = this;
    for (let i = 0; i < matchCount; i++) {
      const document = matches[i]!;
      const before = coverage[document]!;
      if (before === 0) documents[size++] = document;
      coverage[document] = before | term.coverage;
      this.addScore(document, bestScores[document]!, term);
      bestScores[document] = 0;
    }
    this.size = size;
    this.matchCount = 0;
  }

  private addScore(document: number, score: number, { share, fullScore }: TermCoverage): void {
    this.values[document]! += score;
    this.coveredShares[document]! += score < fullScore ? (share * score) / fullScore : share;
  }

  /**
   * Adds `contextScore` to each score and multiplies the sum by the covered share of the document, at most 1. Drops the
   * documents whose matched parts of the query have a share below `minShare`. For this, a weak match counts as much as a
   * full one: `shares` contains the share for each value of `coverage`. Call this once, after the last term.
   */
  applyCoverage(shares: Float32Array, minShare: number, contextScore: number): void {
    const { documents, values, coverage, coveredShares, size } = this;
    let remainingSize = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const share = Math.min(1, coveredShares[document]!);
      coveredShares[document] = 0;
      if (shares[coverage[document]!]! < minShare) {
        this.drop(document);
        continue;
      }
      values[document] = (values[document]! + contextScore) * share;
      documents[remainingSize++] = document;
    }
    this.size = remainingSize;
  }

  /** Drops the documents whose kind does not pass. `passing` contains 1 at the number of each kind that passes. */
  filterKinds(documentKinds: Uint16Array, passing: Uint8Array): void {
    const { documents, size } = this;
    let remainingSize = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (passing[documentKinds[document]!] === 1) documents[remainingSize++] = document;
      else this.drop(document);
    }
    this.size = remainingSize;
  }

  private drop(document: number): void {
    this.values[document] = 0;
    this.coverage[document] = 0;
  }

  /** Resets all scores for the next segment. */
  clear(): void {
    for (let i = 0; i < this.size; i++) {
      const document = this.documents[i]!;
      this.values[document] = 0;
      this.coverage[document] = 0;
      this.coveredShares[document] = 0;
    }
    this.size = 0;
  }
}
