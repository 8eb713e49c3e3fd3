import { withRoomFor } from './grow.js';
import { isOneTypoAway } from './typo.js';
import { WordBytes } from './word-bytes.js';

const BLOCK = 512;
const MOST_GUESSES = 4096;

/** How many words a vocabulary can hold: their numbers fit into two bytes. */
export const MOST_WORDS = 0x10000;

/** The word in question. All below is synchronous, so that one serves every vocabulary. */
const key = new WordBytes();

/**
 * Words and their numbers, counted from 0. The words stand one behind the other in one array of bytes, and in order in
 * blocks of numbers, so that all words with a prefix are a range; nothing is ever sorted as a whole.
 */
export class Vocabulary {
  size = 0;
  private bytes = new Uint8Array(256);
  /** Where each word ends, which is where the next one starts. */
  private ends = new Uint32Array(32);
  private blocks = [new Uint16Array(BLOCK)];
  private lengths = [0];
  /** By hash, the number of a word that had it: most words of a text are found here, and none is only here. */
  private guesses: Uint16Array | undefined;

  /** The place that `seek` found. */
  private block = 0;
  private slot = 0;

  /** Undefined when it is none of the words. */
  find(word: string): number | undefined {
    key.write(word);
    return this.seekKey();
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

  lengthOf(number: number): number {
    return this.endOf(number) - this.startOf(number);
  }

  /** Puts the numbers of all words that start so into `numbers`, and says how many they are. */
  startingWith(prefix: string, numbers: Uint16Array): number {
    key.write(prefix);
    return this.rangeOfKey(numbers);
  }

  /** The same for the words that differ from this one by a typo anywhere but in the first letter. */
  similarTo(word: string, numbers: Uint16Array): number {
    key.write(String.fromCodePoint(word.codePointAt(0)!));
    const candidates = this.rangeOfKey(numbers);
    key.write(word);
    let count = 0;
    for (let i = 0; i < candidates; i++) {
      const number = numbers[i]!;
      if (isOneTypoAway(key, this.bytes, this.startOf(number), this.endOf(number))) numbers[count++] = number;
    }
    return count;
  }

  /** Gives back the room that is kept for more words. */
  seal(): void {
    const all = new Uint16Array(this.size);
    let filled = 0;
    for (const [index, block] of this.blocks.entries()) {
      all.set(block.subarray(0, this.lengths[index]), filled);
      filled += this.lengths[index]!;
    }
    this.blocks = [all];
    this.lengths = [filled];
    this.bytes = this.bytes.slice(0, this.endOf(this.size - 1));
    this.ends = this.ends.slice(0, this.size);
    this.guesses = undefined;
  }

  private startOf(number: number): number {
    return number === 0 ? 0 : this.ends[number - 1]!;
  }

  private endOf(number: number): number {
    return this.ends[number] ?? 0;
  }

  private internKey(): number {
    this.guesses ??= new Uint16Array(MOST_GUESSES);
    const hash = key.hash() % MOST_GUESSES;
    const guess = this.guesses[hash]!;
    if (guess < this.size && this.compare(guess, false) === 0) return guess;
    const number = this.seekKey() ?? this.insertKey();
    this.guesses[hash] = number;
    return number;
  }

  private seekKey(): number | undefined {
    this.seek(false);
    if (this.slot === this.lengths[this.block]) return undefined;
    const number = this.blocks[this.block]![this.slot]!;
    return this.compare(number, false) === 0 ? number : undefined;
  }

  private rangeOfKey(numbers: Uint16Array): number {
    this.seek(false);
    const { block: firstBlock, slot: firstSlot } = this;
    this.seek(true);
    let count = 0;
    for (let block = firstBlock; block <= this.block; block++) {
      const from = block === firstBlock ? firstSlot : 0;
      const to = block === this.block ? this.slot : this.lengths[block]!;
      numbers.set(this.blocks[block]!.subarray(from, to), count);
      count += to - from;
    }
    return count;
  }

  /** Goes to the first word that does not stand before the key; with `past`, none that starts with the key either. */
  private seek(past: boolean): void {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.compare(this.blocks[middle]![0]!, past) < 0) low = middle;
      else high = middle - 1;
    }
    this.block = low;
    const block = this.blocks[low]!;
    low = 0;
    high = this.lengths[this.block]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(block[middle]!, past) < 0) low = middle + 1;
      else high = middle;
    }
    this.slot = low;
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

  /** At the place that was sought. */
  private insertKey(): number {
    const number = this.size++;
    const start = this.startOf(number);
    this.bytes = withRoomFor(this.bytes, start + key.length);
    this.bytes.set(key.bytes.subarray(0, key.length), start);
    this.ends = withRoomFor(this.ends, this.size);
    this.ends[number] = start + key.length;

    if (this.lengths[this.block] === BLOCK) this.splitBlock();
    const block = this.blocks[this.block]!;
    block.copyWithin(this.slot + 1, this.slot, this.lengths[this.block]);
    block[this.slot] = number;
    this.lengths[this.block]!++;
    return number;
  }

  /** At its end when that is where the word goes, so that words that come in order leave full blocks behind. */
  private splitBlock(): void {
    const at = this.slot === BLOCK ? BLOCK : BLOCK / 2;
    const second = new Uint16Array(BLOCK);
    second.set(this.blocks[this.block]!.subarray(at));
    this.blocks.splice(this.block + 1, 0, second);
    this.lengths.splice(this.block, 1, at, BLOCK - at);
    if (this.slot < at || (this.slot === at && at < BLOCK)) return;
    this.block++;
    this.slot -= at;
  }
}
