import { withRoomFor } from './grow.js';

/** Documents are numbered from 0 to one less than this. */
export const MOST_DOCUMENTS = 4096;

/** Marks a head that is itself the one entry of its word, as most words have only one. */
const SINGLE = 1 << 24;
const LEAST_CAPACITY = 8;
const MORE = 0x80;

/** Where the entries of a word are read into: in the order of the documents, of which each is there once. */
export class Entries {
  size = 0;
  readonly documents = new Uint16Array(MOST_DOCUMENTS);
  readonly weights = new Uint8Array(MOST_DOCUMENTS);
}

/**
 * Per word, the documents that have it and what it weighs there. A word with several has a list in one array of bytes:
 * the distance from the document before, in one byte or two, and the weight.
 */
export class Postings {
  /** How many entries there are in all. */
  size = 0;
  /** By word: its only entry, or one more than the number of its list; 0 for none. */
  private heads = new Uint32Array(32);

  private lists = 0;
  private starts = new Uint32Array(16);
  private lengths = new Uint16Array(16);
  private counts = new Uint16Array(16);
  private lasts = new Uint16Array(16);

  private bytes = new Uint8Array(256);
  private used = 0;
  /** By capacity, where lists were that have moved. */
  private readonly free = new Map<number, number[]>();

  /** Documents come in ascending order. */
  add(word: number, document: number, weight: number): void {
    this.size++;
    this.heads = withRoomFor(this.heads, word + 1);
    const head = this.heads[word]!;
    if (head === 0) {
      this.heads[word] = SINGLE | (document << 8) | weight;
      return;
    }
    if (!(head & SINGLE)) {
      this.append(head - 1, document, weight);
      return;
    }
    const list = this.openList();
    this.heads[word] = list + 1;
    this.append(list, (head - SINGLE) >>> 8, head & 0xff);
    this.append(list, document, weight);
  }

  count(word: number): number {
    const head = this.heads[word]!;
    return head & SINGLE ? 1 : this.counts[head - 1]!;
  }

  read(word: number, entries: Entries): void {
    const { documents, weights } = entries;
    const head = this.heads[word]!;
    if (head & SINGLE) {
      documents[0] = (head - SINGLE) >>> 8;
      weights[0] = head & 0xff;
      entries.size = 1;
      return;
    }
    const { bytes } = this;
    const count = this.counts[head - 1]!;
    let at = this.starts[head - 1]!;
    let document = 0;
    for (let i = 0; i < count; i++) {
      const distance = bytes[at++]!;
      document += distance < MORE ? distance : distance - MORE + (bytes[at++]! << 7);
      documents[i] = document;
      weights[i] = bytes[at++]!;
    }
    entries.size = count;
  }

  /**
   * Gives the words new numbers, of which `words` says which they had, lays their lists out in that order, and gives
   * back the room that is kept for more. Nothing can be added any more.
   */
  seal(words: Uint16Array): void {
    const heads = new Uint32Array(words.length);
    const bytes = new Uint8Array(this.lengths.reduce((sum, length) => sum + length, 0));
    let used = 0;
    for (let word = 0; word < words.length; word++) {
      const head = this.heads[words[word]!]!;
      heads[word] = head;
      if (head & SINGLE) continue;
      const start = this.starts[head - 1]!;
      const length = this.lengths[head - 1]!;
      bytes.set(this.bytes.subarray(start, start + length), used);
      this.starts[head - 1] = used;
      used += length;
    }
    this.heads = heads;
    this.bytes = bytes;
    this.starts = this.starts.slice(0, this.lists);
    this.counts = this.counts.slice(0, this.lists);
    this.lengths = new Uint16Array(0);
    this.lasts = new Uint16Array(0);
    this.free.clear();
  }

  private openList(): number {
    const list = this.lists++;
    this.starts = withRoomFor(this.starts, this.lists);
    this.lengths = withRoomFor(this.lengths, this.lists);
    this.counts = withRoomFor(this.counts, this.lists);
    this.lasts = withRoomFor(this.lasts, this.lists);
    this.starts[list] = this.allocate(LEAST_CAPACITY);
    return list;
  }

  private append(list: number, document: number, weight: number): void {
    const distance = document - this.lasts[list]!;
    const length = this.lengths[list]!;
    this.ensure(list, length + (distance < MORE ? 2 : 3));
    let at = this.starts[list]! + length;
    if (distance < MORE) {
      this.bytes[at++] = distance;
    } else {
      this.bytes[at++] = MORE | (distance & 0x7f);
      this.bytes[at++] = distance >>> 7;
    }
    this.bytes[at++] = weight;
    this.lengths[list] = at - this.starts[list]!;
    this.counts[list]!++;
    this.lasts[list] = document;
  }

  private ensure(list: number, length: number): void {
    const before = capacityOf(this.lengths[list]!);
    const capacity = capacityOf(length);
    if (capacity === before) return;
    const from = this.starts[list]!;
    const to = this.allocate(capacity);
    this.bytes.copyWithin(to, from, from + this.lengths[list]!);
    this.starts[list] = to;
    const free = this.free.get(before);
    if (free) free.push(from);
    else this.free.set(before, [from]);
  }

  private allocate(capacity: number): number {
    const free = this.free.get(capacity)?.pop();
    if (free !== undefined) return free;
    const start = this.used;
    this.used += capacity;
    this.bytes = withRoomFor(this.bytes, this.used);
    return start;
  }
}

/** A list has the least power of two that holds it, so that a list of n entries moves log n times. */
function capacityOf(length: number): number {
  return length <= LEAST_CAPACITY ? LEAST_CAPACITY : 1 << (32 - Math.clz32(length - 1));
}
