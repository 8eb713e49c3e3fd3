import { withRoomFor } from './grow.js';
import { isOneTypoAway } from './typo.js';
import { WordBytes } from './word-bytes.js';
import { WordOrder } from './word-order.js';
import { partitionPoint } from '../sorted/binary-search.js';

const MOST_GUESSES = 4096;

/** The word in question. All below is synchronous, so that one serves every vocabulary. */
const key = new WordBytes();

/** Words by their ranks in the order of all words: from the first to before the second. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Words and their numbers, which fit into two bytes. The words stand one behind the other in one array of bytes. */
export class Vocabulary {
  private count = 0;
  private bytes = new Uint8Array(256);
  /** Where each word ends, which is where the next one starts. */
  private ends = new Uint32Array(32);
  /** Absent once it is sealed: then the numbers are the ranks. */
  private order: WordOrder | undefined = new WordOrder();
  /** By hash, the number of a word that had it: most words of a text are found here, and none is only here. */
  private guesses = new Uint16Array(64);

  get size(): number {
    return this.count;
  }

  /** The word's number, which is a new one unless the word is known. */
  intern(word: string): number {
    key.write(word);
    return this.internKey();
  }

  /** The same for a word of another vocabulary. */
  internFrom(other: Vocabulary, number: number): number {
    key.copy(other.bytes, other.startOf(number), other.endOf(number));
    return this.internKey();
  }

  numberAt(rank: number): number {
    return this.order ? this.order.numbers()[rank]! : rank;
  }

  /** All words that start so, which are neighbours. The word itself, if it is one, comes first. */
  startingWith(prefix: string): Range {
    key.write(prefix);
    return this.rangeOfKey();
  }

  is(number: number, word: string): boolean {
    key.write(word);
    return this.compare(number, false) === 0;
  }

  /** The numbers of the words that differ from this one by a typo anywhere but in the first letter. */
  similarTo(word: string): number[] {
    const { from, to } = this.startingWith(String.fromCodePoint(word.codePointAt(0)!));
    key.write(word);
    const similar: number[] = [];
    for (let rank = from; rank < to; rank++) {
      const number = this.numberAt(rank);
      if (isOneTypoAway(key, this.bytes, this.startOf(number), this.endOf(number))) similar.push(number);
    }
    return similar;
  }

  lengthOf(number: number): number {
    return this.endOf(number) - this.startOf(number);
  }

  /**
   * Numbers the words by their ranks and gives back the room that is kept for more; none can be added any more.
   * Says which number each rank had.
   */
  seal(): Uint16Array {
    const numbers = this.order!.numbers();
    const bytes = new Uint8Array(this.endOf(this.count - 1));
    const ends = new Uint32Array(this.count);
    let end = 0;
    for (let rank = 0; rank < this.count; rank++) {
      const number = numbers[rank]!;
      bytes.set(this.bytes.subarray(this.startOf(number), this.endOf(number)), end);
      ends[rank] = end += this.lengthOf(number);
    }
    this.bytes = bytes;
    this.ends = ends;
    this.order = undefined;
    this.guesses = new Uint16Array(0);
    return numbers;
  }

  private startOf(number: number): number {
    return number === 0 ? 0 : this.ends[number - 1]!;
  }

  private endOf(number: number): number {
    return this.ends[number] ?? 0;
  }

  private internKey(): number {
    if (this.count > this.guesses.length && this.guesses.length < MOST_GUESSES)
      this.guesses = new Uint16Array(2 * this.guesses.length);
    const hash = key.hash() % this.guesses.length;
    const guess = this.guesses[hash]!;
    if (this.compare(guess, false) === 0) return guess;
    const next = this.order!.seek(this.isBeforeKey);
    const isKnown = next !== undefined && this.compare(next, false) === 0;
    const number = isKnown ? next : this.insertKey();
    this.guesses[hash] = number;
    return number;
  }

  private readonly isBeforeKey = (number: number): boolean => this.compare(number, false) < 0;

  /** At the place that was sought. */
  private insertKey(): number {
    const number = this.count++;
    const start = this.startOf(number);
    this.bytes = withRoomFor(this.bytes, start + key.length);
    for (let i = 0; i < key.length; i++) this.bytes[start + i] = key.bytes[i]!;
    this.ends = withRoomFor(this.ends, this.count);
    this.ends[number] = start + key.length;
    this.order!.insert(number);
    return number;
  }

  private rangeOfKey(): Range {
    const from = this.rankOfKey(0, false);
    return { from, to: this.rankOfKey(from, true) };
  }

  /** The first rank whose word does not stand before the key; with `past`, nor starts with it. */
  private rankOfKey(from: number, past: boolean): number {
    return partitionPoint(from, this.count, (rank) => this.compare(this.numberAt(rank), past) < 0);
  }

  /** Negative when the word stands before the key, 0 when it is the key. */
  private compare(number: number, past: boolean): number {
    const start = this.startOf(number);
    const length = this.endOf(number) - start;
    const shared = Math.min(length, key.length);
    for (let i = 0; i < shared; i++) {
      const difference = this.bytes[start + i]! - key.bytes[i]!;
      if (difference !== 0) return difference;
    }
    return past && shared === key.length ? -1 : length - key.length;
  }
}
