import { withRoomFor } from './grow.js';
import { Kinds } from './kinds.js';
import { Entries, MOST_DOCUMENTS, Postings } from './postings.js';
import { Vocabulary } from './vocabulary.js';

/** They bound what it takes to seal and to absorb a segment. One document is let in whatever it has. */
const MANY_WORDS = 1 << 15;
const MANY_ENTRIES = 1 << 17;

/**
 * A few thousand documents with a vocabulary of their own, so that every step has a bound. Documents are only ever
 * added; one that is removed stays as a gap until the segment is absorbed by another.
 */
export class Segment<Item> {
  readonly vocabulary = new Vocabulary();
  private readonly postings = new Postings();
  private items: (Item | undefined)[] = [];
  private readonly places = new Map<Item, number>();
  /** By document, the number of its kind. */
  kindNumbers = new Uint16Array(64);
  /** By document; absent as long as none was removed. */
  private removed: Uint8Array | undefined;
  /** Absent when it must be found out again. */
  private knownRanks: Uint16Array | undefined;
  /** Whether nothing can be added any more. */
  isSealed = false;

  constructor(
    private readonly compare: (a: Item, b: Item) => number,
    /** Those of the whole index. */
    readonly kinds = new Kinds(),
  ) {}

  /** How many documents it has had; their numbers are below this. */
  get length(): number {
    return this.items.length;
  }

  /** How many are left. */
  get size(): number {
    return this.places.size;
  }

  /** All that are left. */
  get all(): Iterable<Item> {
    return this.places.keys();
  }

  /** Undefined for one that was removed. */
  at(document: number): Item | undefined {
    return this.items[document];
  }

  /** By document, its place in the order of the items. */
  get ranks(): Uint16Array {
    return (this.knownRanks ??= this.findRanks());
  }

  hasRoomFor(documents: number, words: number, entries: number): boolean {
    if (this.length === 0) return true;
    return (
      this.length + documents <= MOST_DOCUMENTS &&
      this.vocabulary.size + words <= MANY_WORDS &&
      this.postings.size + entries <= MANY_ENTRIES
    );
  }

  add(item: Item, weights: ReadonlyMap<string, number>, kind = 0): void {
    const document = this.place(item, kind);
    for (const [word, weight] of weights) this.postings.add(this.vocabulary.intern(word), document, weight);
  }

  /** False when it is not here. */
  remove(item: Item): boolean {
    const document = this.places.get(item);
    if (document === undefined) return false;
    this.places.delete(item);
    this.items[document] = undefined;
    this.removed ??= new Uint8Array(MOST_DOCUMENTS);
    this.removed[document] = 1;
    return true;
  }

  /** How many documents have the word. */
  count(word: number, entries: Entries): number {
    if (!this.removed) return this.postings.count(word);
    this.read(word, entries);
    return entries.size;
  }

  read(word: number, entries: Entries): void {
    this.postings.read(word, entries);
    const { removed } = this;
    if (!removed) return;
    const { documents, weights, size } = entries;
    let kept = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (removed[document]) continue;
      documents[kept] = document;
      weights[kept++] = weights[i]!;
    }
    entries.size = kept;
  }

  hasRoomForAll(other: Segment<Item>): boolean {
    return this.hasRoomFor(other.size, other.vocabulary.size, other.postings.size);
  }

  /** Takes over what is left in another. */
  absorb(other: Segment<Item>): void {
    const places = other.items.map((item, document) =>
      other.removed?.[document] ? -1 : this.place(item as Item, other.kindNumbers[document]!),
    );
    const entries = new Entries();
    for (let word = 0; word < other.vocabulary.size; word++) {
      other.read(word, entries);
      if (entries.size === 0) continue;
      const number = this.vocabulary.internFrom(other.vocabulary, word);
      for (let i = 0; i < entries.size; i++)
        this.postings.add(number, places[entries.documents[i]!]!, entries.weights[i]!);
    }
  }

  /** Sorts everything and gives back the room that is kept for more. Nothing can be added any more. */
  seal(): void {
    this.postings.seal(this.vocabulary.seal());
    this.items = this.items.slice();
    this.kindNumbers = this.kindNumbers.slice(0, this.length);
    this.knownRanks = this.findRanks();
    this.isSealed = true;
  }

  private findRanks(): Uint16Array {
    const ranks = new Uint16Array(this.length);
    // Documents mostly come in order, which is quick to sort.
    const sorted = [...this.places].toSorted(([a], [b]) => this.compare(a, b));
    for (const [rank, [, document]] of sorted.entries()) ranks[document] = rank;
    return ranks;
  }

  private place(item: Item, kind: number): number {
    this.knownRanks = undefined;
    const document = this.items.push(item) - 1;
    this.kindNumbers = withRoomFor(this.kindNumbers, this.length);
    this.kindNumbers[document] = kind;
    this.places.set(item, document);
    return document;
  }
}
