import { Entries, MOST_DOCUMENTS, Postings } from './postings.js';
import { MOST_WORDS, Vocabulary } from './vocabulary.js';

/** Bounds what it takes to absorb a segment. */
const MOST_ENTRIES = 1 << 18;

/**
 * A few thousand documents with a vocabulary of their own, so that every step has a bound. Documents are only ever
 * added; one that is removed stays as a gap until the segment is absorbed by another.
 */
export class Segment<Item> {
  readonly vocabulary = new Vocabulary();
  private readonly postings = new Postings();
  private items: (Item | undefined)[] = [];
  private readonly places = new Map<Item, number>();
  /** By document; absent as long as none was removed. */
  private removed: Uint8Array | undefined;

  /** How many documents it has had; their numbers are below this. */
  get length(): number {
    return this.items.length;
  }

  /** How many are left. */
  get size(): number {
    return this.places.size;
  }

  /** Undefined for one that was removed. */
  at(document: number): Item | undefined {
    return this.items[document];
  }

  hasRoomFor(documents: number, words: number, entries: number): boolean {
    return (
      this.length + documents <= MOST_DOCUMENTS &&
      this.vocabulary.size + words <= MOST_WORDS &&
      (this.postings.size + entries <= MOST_ENTRIES || this.length === 0)
    );
  }

  add(item: Item, weights: ReadonlyMap<string, number>): void {
    const document = this.place(item);
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
      other.removed?.[document] ? -1 : this.place(item as Item),
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

  /** Gives back the room that is kept for more. Nothing can be added any more. */
  seal(): void {
    this.vocabulary.seal();
    this.postings.seal();
    this.items = this.items.slice();
  }

  private place(item: Item): number {
    const document = this.items.push(item) - 1;
    this.places.set(item, document);
    return document;
  }
}
