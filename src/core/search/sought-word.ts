import { Entries } from './postings.js';
import type { QueryWord } from './query.js';
import type { Segment } from './segment.js';
import type { Tally } from './tally.js';
import { MOST_WORDS } from './vocabulary.js';

/** What the start of a word, or a word with a typo, is worth of the word itself, before their lengths are compared. */
const RELATED_SHARE = 0.6;
const LEAST_LETTERS_OF_A_TYPO = 5;

/** How other words of a vocabulary are taken for the one that is sought. */
type Relation = 'none' | 'longer' | 'similar';

/** One word of a query, on its way through the segments that are searched. */
export class SoughtWord {
  private relation: Relation;
  /** What a match is worth: the rarer, the more. */
  private worth = 0;
  private relatedWorth = 0;

  private readonly entries = new Entries();
  private readonly related = new Uint16Array(MOST_WORDS);

  constructor(readonly word: QueryWord) {
    this.relation = word.isPrefix ? 'longer' : 'none';
  }

  /** Counts who has it among all that are searched, and nobody else. */
  weigh(segments: readonly Segment<unknown>[], documents: number, allowTypo: boolean): void {
    const { length } = this.word.text;
    let [exact, related] = this.count(segments);
    if (allowTypo && exact + related === 0 && length >= LEAST_LETTERS_OF_A_TYPO) {
      this.relation = 'similar';
      [exact, related] = this.count(segments);
    }
    this.worth = rarity(exact, documents);
    // Never more than the word itself, however rare the others are.
    this.relatedWorth = rarity(Math.min(documents, exact + related), documents) * RELATED_SHARE;
  }

  tally(segment: Segment<unknown>, tally: Tally): void {
    const exact = segment.vocabulary.find(this.word.text);
    if (exact !== undefined) this.match(segment, exact, this.worth, tally);
    const count = this.findRelated(segment);
    const { length } = this.word.text;
    for (let i = 0; i < count; i++) {
      const number = this.related[i]!;
      if (number === exact) continue;
      const other = segment.vocabulary.lengthOf(number);
      const likeness = Math.min(length, other) / Math.max(length, other);
      this.match(segment, number, this.relatedWorth * likeness, tally);
    }
    tally.endWord(this.word.covers);
  }

  private match(segment: Segment<unknown>, number: number, worth: number, tally: Tally): void {
    const { entries } = this;
    segment.read(number, entries);
    for (let i = 0; i < entries.size; i++) tally.match(entries.documents[i]!, worth * entries.weights[i]!);
  }

  private count(segments: readonly Segment<unknown>[]): [exact: number, related: number] {
    let exact = 0;
    let related = 0;
    for (const segment of segments) {
      const number = segment.vocabulary.find(this.word.text);
      if (number !== undefined) exact += segment.count(number, this.entries);
      const count = this.findRelated(segment);
      for (let i = 0; i < count; i++) {
        if (this.related[i] !== number) related += segment.count(this.related[i]!, this.entries);
      }
    }
    return [exact, related];
  }

  private findRelated({ vocabulary }: Segment<unknown>): number {
    if (this.relation === 'none') return 0;
    return this.relation === 'longer'
      ? vocabulary.startingWith(this.word.text, this.related)
      : vocabulary.similarTo(this.word.text, this.related);
  }
}

/** The inverse document frequency of BM25. Above 0 even for a word that every document has. */
const rarity = (count: number, documents: number): number =>
  Math.log(1 + (documents - count + 0.5) / (count + 0.5));
