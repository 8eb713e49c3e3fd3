import { MOST_DOCUMENTS, type Entries } from './postings.js';
import { bitsIn } from './query.js';

/** What the documents of one segment have scored so far, and which parts of the query they meet. */
export class Tally {
  /** How many documents have scored at all; the first so many of `documents`. */
  size = 0;
  readonly documents = new Uint16Array(MOST_DOCUMENTS);
  readonly scores = new Float32Array(MOST_DOCUMENTS);
  /** The same as integers, which have the same order. */
  readonly scoreBits = new Uint32Array(this.scores.buffer);
  readonly covered = new Uint16Array(MOST_DOCUMENTS);

  /** The same for the word at hand, of which only the best match counts. */
  private matched = 0;
  private readonly matches = new Uint16Array(MOST_DOCUMENTS);
  private readonly best = new Float32Array(MOST_DOCUMENTS);

  /** A word that has no other matches than these. */
  add({ documents: matches, weights, size: matched }: Entries, worth: number, covers: number): void {
    const { documents, scores, covered } = this;
    let { size } = this;
    for (let i = 0; i < matched; i++) {
      const document = matches[i]!;
      const before = covered[document]!;
      if (before === 0) documents[size++] = document;
      covered[document] = before | covers;
      // Rounded like one of several, or the same document would score differently among others.
      scores[document]! += Math.fround(worth * weights[i]!);
    }
    this.size = size;
  }

  /** Some of the matches of the word at hand. What they are worth is above 0. */
  match(entries: Entries, worth: number): void {
    const { matches, best } = this;
    const { documents, weights, size } = entries;
    let { matched } = this;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      const score = worth * weights[i]!;
      const before = best[document]!;
      if (before === 0) matches[matched++] = document;
      if (score > before) best[document] = score;
    }
    this.matched = matched;
  }

  /** Adds up the word at hand and starts the next one. */
  endWord(covers: number): void {
    const { documents, scores, covered, matched, matches, best } = this;
    let { size } = this;
    for (let i = 0; i < matched; i++) {
      const document = matches[i]!;
      const before = covered[document]!;
      if (before === 0) documents[size++] = document;
      covered[document] = before | covers;
      scores[document]! += best[document]!;
      best[document] = 0;
    }
    this.size = size;
    this.matched = 0;
  }

  /** Makes the share of the query that a document meets a factor of its score. To be done once, at the end. */
  weighCoverage(parts: number): void {
    if (parts === 1) return;
    const { documents, scores, covered, size } = this;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      scores[document]! *= bitsIn(covered[document]!) / parts;
    }
  }

  /** Leaves only the documents of kinds that pass. */
  keep(kinds: Uint16Array, passing: Uint8Array): void {
    const { documents, scores, covered, size } = this;
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (passing[kinds[document]!] === 1) documents[kept++] = document;
      else scores[document] = covered[document] = 0;
    }
    this.size = kept;
  }

  /** Ready for the next segment. */
  clear(): void {
    for (let i = 0; i < this.size; i++) {
      const document = this.documents[i]!;
      this.scores[document] = 0;
      this.covered[document] = 0;
    }
    this.size = 0;
  }
}
