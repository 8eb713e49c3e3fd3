import { MOST_DOCUMENTS } from './postings.js';

/** What the documents of one segment have scored so far, and which parts of the query they meet. */
export class Tally {
  /** How many documents have scored at all; the first so many of `documents`. */
  size = 0;
  readonly documents = new Uint16Array(MOST_DOCUMENTS);
  readonly scores = new Float32Array(MOST_DOCUMENTS);
  readonly covered = new Uint16Array(MOST_DOCUMENTS);

  /** The same for the word at hand, of which only the best match counts. */
  private matched = 0;
  private readonly matches = new Uint16Array(MOST_DOCUMENTS);
  private readonly best = new Float32Array(MOST_DOCUMENTS);

  /** A match of the word at hand. The score is above 0. */
  match(document: number, score: number): void {
    const best = this.best[document]!;
    if (best === 0) this.matches[this.matched++] = document;
    if (score > best) this.best[document] = score;
  }

  /** Adds up the word at hand and starts the next one. */
  endWord(covers: number): void {
    const { documents, scores, covered, matches, best } = this;
    for (let i = 0; i < this.matched; i++) {
      const document = matches[i]!;
      if (covered[document] === 0) documents[this.size++] = document;
      scores[document]! += best[document]!;
      covered[document]! |= covers;
      best[document] = 0;
    }
    this.matched = 0;
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
