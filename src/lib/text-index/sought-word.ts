import type { Entries } from './postings.js';
import type { QueryWord } from './query.js';
import type { Segment } from './segment.js';
import type { Tally } from './tally.js';
import type { Range } from './vocabulary.js';

/** What a longer word, or one with a typo, is worth of the word itself, before their lengths are compared. */
const RELATED_SHARE = 0.6;
const LEAST_LETTERS_OF_A_TYPO = 5;

/** The words of one segment that are taken for the one that is sought. */
interface Found {
  /** Its number, when the segment has the word itself. */
  readonly exact: number | undefined;
  readonly longer: Range;
  readonly similar: readonly number[];
}

/** The same, and how many documents have them. */
interface Counted extends Found {
  readonly exacts: number;
  readonly related: number;
}

const NONE: Range = { from: 0, to: 0 };
const NOTHING: Counted = { exact: undefined, longer: NONE, similar: [], exacts: 0, related: 0 };

/** One word of a query, on its way through the segments that are searched. */
export class SoughtWord<Item> {
  /** By segment that was looked at. */
  private readonly found = new Map<Segment<Item>, Counted>();
  /** What a match is worth: the rarer, the more. */
  private worth = 0;
  private relatedWorth = 0;

  constructor(
    private readonly word: QueryWord,
    private readonly entries: Entries,
  ) {}

  /** Finds the word ahead of time, where nothing will be added any more. */
  look(segment: Segment<Item>): void {
    if (!this.found.has(segment)) this.found.set(segment, this.counted(segment, this.findIn(segment)));
  }

  /** Counts who has the word among all that are searched and nobody else, and looks where nobody has looked yet. */
  weigh(segments: readonly Segment<Item>[], documents: number, allowTypo: boolean): void {
    for (const segment of segments) this.look(segment);
    let [exacts, related] = this.sum(segments);
    if (allowTypo && exacts + related === 0 && this.word.text.length >= LEAST_LETTERS_OF_A_TYPO) {
      for (const segment of segments)
        this.found.set(segment, this.counted(segment, this.findSimilarIn(segment)));
      [exacts, related] = this.sum(segments);
    }
    this.worth = rarity(exacts, documents);
    // Never more than the word itself, however rare the others are.
    this.relatedWorth = rarity(Math.min(documents, exacts + related), documents) * RELATED_SHARE;
  }

  tally(segment: Segment<Item>, tally: Tally): void {
    const found = this.found.get(segment);
    if (!found || found.exacts + found.related === 0) return;
    const { exact, longer, similar } = found;
    if (exact !== undefined) {
      segment.read(exact, this.entries);
      const isAll = longer.from === longer.to;
      if (isAll) tally.add(this.entries, this.worth, this.word.covers);
      else tally.match(this.entries, this.worth);
    }
    for (let rank = longer.from; rank < longer.to; rank++)
      this.matchRelated(segment, segment.vocabulary.numberAt(rank), tally);
    for (const number of similar) this.matchRelated(segment, number, tally);
    tally.endWord(this.word.covers);
  }

  private matchRelated(segment: Segment<Item>, number: number, tally: Tally): void {
    const { length } = this.word.text;
    const other = segment.vocabulary.lengthOf(number);
    const likeness = Math.min(length, other) / Math.max(length, other);
    segment.read(number, this.entries);
    tally.match(this.entries, this.relatedWorth * likeness);
  }

  private sum(segments: readonly Segment<Item>[]): [exacts: number, related: number] {
    const counts = segments.map((segment) => this.found.get(segment)!);
    return [
      counts.reduce((sum, { exacts }) => sum + exacts, 0),
      counts.reduce((sum, { related }) => sum + related, 0),
    ];
  }

  private counted(segment: Segment<Item>, found: Found | undefined): Counted {
    if (!found) return NOTHING;
    const { exact, longer, similar } = found;
    let related = 0;
    for (let rank = longer.from; rank < longer.to; rank++)
      related += segment.count(segment.vocabulary.numberAt(rank), this.entries);
    for (const number of similar) related += segment.count(number, this.entries);
    return { ...found, exacts: exact === undefined ? 0 : segment.count(exact, this.entries), related };
  }

  private findIn({ vocabulary }: Segment<Item>): Found | undefined {
    const { text, isPrefix } = this.word;
    const { from, to } = vocabulary.startingWith(text);
    if (from === to) return undefined;
    const first = vocabulary.numberAt(from);
    const exact = vocabulary.is(first, text) ? first : undefined;
    const longer = isPrefix ? { from: exact === undefined ? from : from + 1, to } : NONE;
    return { exact, longer, similar: [] };
  }

  private findSimilarIn({ vocabulary }: Segment<Item>): Found | undefined {
    const similar = vocabulary.similarTo(this.word.text);
    return similar.length > 0 ? { exact: undefined, longer: NONE, similar } : undefined;
  }
}

/** The inverse document frequency of BM25. Above 0 even for a word that every document has. */
const rarity = (count: number, documents: number): number =>
  Math.log(1 + (documents - count + 0.5) / (count + 0.5));
