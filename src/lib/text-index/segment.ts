import { MAX_DOCUMENTS, PostingList, Postings, withCapacity } from './postings.js';
import { TermDictionary } from './term-dictionary.js';

/** These limits bound the time to seal and to merge a segment. A segment with a single document may exceed them. */
const MAX_TERMS = 1 << 15;
const MAX_POSTINGS = 1 << 17;

/**
 * A part of an index: up to 4096 documents with their own term dictionary, so that sealing, merging and scoring a segment
 * take bounded time. A sealed segment accepts no more documents and has no spare capacity. A removed document keeps its id
 * and its postings until the segment is merged into another one.
 */
export class Segment<Item> {
  readonly terms = new TermDictionary();
  private readonly postings = new Postings();
  private items: (Item | undefined)[] = [];
  private readonly documents = new Map<Item, number>();
  /** By document: the number of its kind. */
  documentKinds = new Uint16Array(64);
  /** By document: 1 if it is removed. Undefined while no document is removed. */
  private removed: Uint8Array | undefined;
  private cachedRanks: Uint16Array | undefined;
  /** Whether documents can no longer be added. */
  isSealed = false;

  constructor(
    private readonly compare: (a: Item, b: Item) => number,
    /** Shared by all segments of an index. */
    readonly kinds = new KindTable(),
  ) {}

  /** Number of document ids in use, removed documents included. */
  get length(): number {
    return this.items.length;
  }

  /** Number of documents without the removed ones. */
  get size(): number {
    return this.documents.size;
  }

  get liveItems(): Iterable<Item> {
    return this.documents.keys();
  }

  /** Undefined for a removed document. */
  itemAt(document: number): Item | undefined {
    return this.items[document];
  }

  /** By document: its position in the order of the items. */
  get ranks(): Uint16Array {
    this.cachedRanks ??= this.computeRanks();
    return this.cachedRanks;
  }

  hasRoomFor(documents: number, terms: number, postings: number): boolean {
    if (this.length === 0) return true;
    return (
      this.length + documents <= MAX_DOCUMENTS &&
      this.terms.size + terms <= MAX_TERMS &&
      this.postings.size + postings <= MAX_POSTINGS
    );
  }

  add(item: Item, weights: ReadonlyMap<string, number>, kind = 0): void {
    const document = this.addDocument(item, kind);
    for (const [term, weight] of weights) this.postings.add(this.terms.intern(term), document, weight);
  }

  /** Returns false when the segment does not have the item. */
  remove(item: Item): boolean {
    const document = this.documents.get(item);
    if (document === undefined) return false;
    this.documents.delete(item);
    this.items[document] = undefined;
    this.removed ??= new Uint8Array(MAX_DOCUMENTS);
    this.removed[document] = 1;
    return true;
  }

  /** Number of documents that have the term. `list` is used as a buffer. */
  documentCount(term: number, list: PostingList): number {
    if (!this.removed) return this.postings.count(term);
    this.read(term, list);
    return list.size;
  }

  /** Reads the postings of a term into `list`, without postings of removed documents. */
  read(term: number, list: PostingList): void {
    this.postings.read(term, list);
    const { removed } = this;
    if (!removed) return;
    const { documents, weights, size } = list;
    let remainingSize = 0;
    for (let i = 0; i < size; i++) {
      const document = documents[i]!;
      if (removed[document]) continue;
      documents[remainingSize] = document;
      weights[remainingSize] = weights[i]!;
      remainingSize++;
    }
    list.size = remainingSize;
  }

  canMerge(other: Segment<Item>): boolean {
    return this.hasRoomFor(other.size, other.terms.size, other.postings.size);
  }

  /** Adds the documents of another segment, without the removed ones. */
  mergeFrom(other: Segment<Item>): void {
    const newIds = other.items.map((item, document) =>
      other.removed?.[document] ? -1 : this.addDocument(item as Item, other.documentKinds[document]!),
    );
    const list = new PostingList();
    for (let otherTerm = 0; otherTerm < other.terms.size; otherTerm++) {
      other.read(otherTerm, list);
      if (list.size === 0) continue;
      const term = this.terms.internFrom(other.terms, otherTerm);
      for (let i = 0; i < list.size; i++)
        this.postings.add(term, newIds[list.documents[i]!]!, list.weights[i]!);
    }
  }

  /** Sorts terms and frees spare capacity. Documents cannot be added afterwards. */
  seal(): void {
    this.postings.seal(this.terms.seal());
    this.items = this.items.slice();
    this.documentKinds = this.documentKinds.slice(0, this.length);
    this.cachedRanks = this.computeRanks();
    this.isSealed = true;
  }

  private computeRanks(): Uint16Array {
    const ranks = new Uint16Array(this.length);
    // Fast, because documents are mostly added in the order of their items, and sorted input is sorted faster.
    const sorted = [...this.documents].toSorted(([a], [b]) => this.compare(a, b));
    for (const [rank, [, document]] of sorted.entries()) ranks[document] = rank;
    return ranks;
  }

  private addDocument(item: Item, kind: number): number {
    this.cachedRanks = undefined;
    const document = this.items.push(item) - 1;
    this.documentKinds = withCapacity(this.documentKinds, this.length);
    this.documentKinds[document] = kind;
    this.documents.set(item, document);
    return document;
  }
}

/** Kinds beyond this number count as the empty kind. */
const MAX_KINDS = 0x10000;

/** Maps the kinds of documents, by which a search can filter, to small integers. The empty kind is 0. */
export class KindTable {
  private readonly names = [''];
  private readonly numbers = new Map([['', 0]]);

  numberOf(name: string): number {
    const existing = this.numbers.get(name);
    if (existing !== undefined) return existing;
    if (this.names.length === MAX_KINDS) return 0;
    const number = this.names.push(name) - 1;
    this.numbers.set(name, number);
    return number;
  }

  /** By number of the kind: 1 if the kind passes the test. */
  passing(test: (name: string) => boolean): Uint8Array {
    return Uint8Array.from(this.names, (name) => (test(name) ? 1 : 0));
  }
}
