import { partitionPoint } from '../sorted/binary-search.js';
import { withCapacity } from './postings.js';
import { SortedTerms } from './sorted-terms.js';
import { TermBytes } from './term-bytes.js';

/** Maximum number of cached terms. */
const MAX_CACHE_SIZE = 4096;

/** Consecutive terms in the order of all terms, by the ranks `from` (inclusive) and `to` (exclusive). */
export interface RankRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Maps terms to ids, which are integers of two bytes, and finds terms by their beginning. The terms are concatenated in one
 * array of bytes.
 */
export class TermDictionary {
  private count = 0;
  private bytes = new Uint8Array(256);
  /** By id: the position in `bytes` where the term ends. The next term starts there. */
  private ends = new Uint32Array(32);
  /** Undefined after `seal`, because ids are then equal to ranks. */
  private order: SortedTerms | undefined = new SortedTerms();
  /**
   * The slot of a term is its hash modulo the length of this array. By slot: the id of the term of this slot that was
   * interned last. A hit makes the search in `order` unnecessary.
   */
  private cache = new Uint16Array(64);
  /** The bytes of the term that the current call is about. */
  private readonly key = new TermBytes();

  get size(): number {
    return this.count;
  }

  /** Returns the id of the term, and adds the term if it is new. */
  intern(term: string): number {
    this.key.write(term);
    return this.internKey();
  }

  /** Like `intern`, for a term of another dictionary. */
  internFrom(other: TermDictionary, id: number): number {
    this.key.copy(other.bytes, other.startOf(id), other.endOf(id));
    return this.internKey();
  }

  /** The id of the term with this rank. */
  idAt(rank: number): number {
    return this.order ? this.order.ids()[rank]! : rank;
  }

  /** The terms that start with the prefix. If the prefix itself is a term, it comes first. */
  prefixRange(prefix: string): RankRange {
    this.key.write(prefix);
    const from = partitionPoint(0, this.count, (rank) => this.isBeforeKey(this.idAt(rank)));
    const to = partitionPoint(from, this.count, (rank) => this.startsWithKey(this.idAt(rank)));
    return { from, to };
  }

  /** The id of a term. Undefined if the dictionary does not have the term in this range. */
  idOf(term: string, { from, to }: RankRange): number | undefined {
    this.key.write(term);
    const rank = partitionPoint(from, to, (candidate) => this.isBeforeKey(this.idAt(candidate)));
    if (rank === to) return undefined;
    const id = this.idAt(rank);
    return this.isKey(id) ? id : undefined;
  }

  isTerm(id: number, term: string): boolean {
    this.key.write(term);
    return this.isKey(id);
  }

  /** The ids of terms within one edit of `term` that have the same first letter. */
  fuzzyMatches(term: string): number[] {
    const { from, to } = this.prefixRange(String.fromCodePoint(term.codePointAt(0)!));
    this.key.write(term);
    const matches: number[] = [];
    for (let rank = from; rank < to; rank++) {
      const id = this.idAt(rank);
      if (this.key.isWithinOneEdit(this.bytes, this.startOf(id), this.endOf(id))) matches.push(id);
    }
    return matches;
  }

  /** Length of a term in bytes. */
  lengthOf(id: number): number {
    return this.endOf(id) - this.startOf(id);
  }

  /**
   * Gives each term its rank as id and frees spare capacity. Terms cannot be added afterwards. Returns the old ids by rank.
   */
  seal(): Uint16Array {
    const ids = this.order!.ids();
    const bytes = new Uint8Array(this.endOf(this.count - 1));
    const ends = new Uint32Array(this.count);
    let end = 0;
    for (let rank = 0; rank < this.count; rank++) {
      const id = ids[rank]!;
      bytes.set(this.bytes.subarray(this.startOf(id), this.endOf(id)), end);
      end += this.lengthOf(id);
      ends[rank] = end;
    }
    this.bytes = bytes;
    this.ends = ends;
    this.order = undefined;
    this.cache = new Uint16Array(0);
    return ids;
  }

  private startOf(id: number): number {
    return id === 0 ? 0 : this.ends[id - 1]!;
  }

  private endOf(id: number): number {
    return this.ends[id] ?? 0;
  }

  private internKey(): number {
    if (this.count > this.cache.length && this.cache.length < MAX_CACHE_SIZE)
      this.cache = new Uint16Array(2 * this.cache.length);
    const slot = this.key.hash() % this.cache.length;
    // An unused slot contains 0, which is also an id: `isKey` finds out whether the slot has the id of this term.
    const cached = this.cache[slot]!;
    if (this.isKey(cached)) return cached;
    const firstNotBefore = this.order!.seek(this.isBeforeKey);
    const isTermOfDictionary = firstNotBefore !== undefined && this.isKey(firstNotBefore);
    const id = isTermOfDictionary ? firstNotBefore : this.insertKey();
    this.cache[slot] = id;
    return id;
  }

  private readonly isBeforeKey = (id: number): boolean => this.compareToKey(id) < 0;

  /** Adds the key as a term, at the position of the last `seek`. Returns its id. */
  private insertKey(): number {
    const { key } = this;
    const id = this.count++;
    const start = this.startOf(id);
    this.bytes = withCapacity(this.bytes, start + key.length);
    for (let i = 0; i < key.length; i++) this.bytes[start + i] = key.bytes[i]!;
    this.ends = withCapacity(this.ends, this.count);
    this.ends[id] = start + key.length;
    this.order!.insert(id);
    return id;
  }

  private isKey(id: number): boolean {
    return this.lengthOf(id) === this.key.length && this.startsWithKey(id);
  }

  private startsWithKey(id: number): boolean {
    const { key } = this;
    const start = this.startOf(id);
    if (this.endOf(id) - start < key.length) return false;
    for (let i = 0; i < key.length; i++) if (this.bytes[start + i] !== key.bytes[i]) return false;
    return true;
  }

  /** Compares a term with the key in byte order. Negative when the term comes first, 0 when it is the key. */
  private compareToKey(id: number): number {
    const { key } = this;
    const start = this.startOf(id);
    const length = this.endOf(id) - start;
    const shared = Math.min(length, key.length);
    for (let i = 0; i < shared; i++) {
      const difference = this.bytes[start + i]! - key.bytes[i]!;
      if (difference !== 0) return difference;
    }
    return length - key.length;
  }
}
