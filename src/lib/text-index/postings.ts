/** Maximum number of documents in a segment. Document ids are less than this. */
export const MAX_DOCUMENTS = 4096;

/** Marks a head that holds the only posting of its term. Most terms have one posting. */
const SINGLE = 1 << 24;
const MIN_CAPACITY = 8;
/** Marks the first byte of a distance of two bytes. */
const MORE = 0x80;

/** A buffer for the decoded postings of one term, by ascending document. */
export class PostingList {
  size = 0;
  readonly documents = new Uint16Array(MAX_DOCUMENTS);
  readonly weights = new Uint8Array(MAX_DOCUMENTS);
}

/**
 * For each term id, the documents that have the term and its weight there. The postings of a term are delta-encoded in a
 * shared array of bytes: the distance from the previous document in one or two bytes, then the weight.
 */
export class Postings {
  /** Number of postings of all terms. */
  size = 0;
  /** By term: its only posting, or the index of its list plus one; 0 for none. */
  private heads = new Uint32Array(32);

  private listCount = 0;
  /** By list: its position in `bytes` and its length there, its number of postings, and its last document. */
  private starts = new Uint32Array(16);
  private lengths = new Uint16Array(16);
  private counts = new Uint16Array(16);
  private lasts = new Uint16Array(16);

  private bytes = new Uint8Array(256);
  private used = 0;
  /** By capacity: positions in `bytes` that became free when a list moved. */
  private readonly free = new Map<number, number[]>();

  /** Documents must be added in ascending order. */
  add(term: number, document: number, weight: number): void {
    this.size++;
    this.heads = withCapacity(this.heads, term + 1);
    const head = this.heads[term]!;
    if (head === 0) {
      this.heads[term] = SINGLE | (document << 8) | weight;
      return;
    }
    if (!(head & SINGLE)) {
      this.append(head - 1, document, weight);
      return;
    }
    const list = this.addList();
    this.heads[term] = list + 1;
    this.append(list, (head - SINGLE) >>> 8, head & 0xff);
    this.append(list, document, weight);
  }

  count(term: number): number {
    const head = this.heads[term]!;
    return head & SINGLE ? 1 : this.counts[head - 1]!;
  }

  read(term: number, list: PostingList): void {
    const { documents, weights } = list;
    const head = this.heads[term]!;
    if (head & SINGLE) {
      documents[0] = (head - SINGLE) >>> 8;
      weights[0] = head & 0xff;
      list.size = 1;
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
    list.size = count;
  }

  /**
   * Renumbers the terms, lays out their lists in the new order, and frees spare capacity; nothing can be added
   * afterwards. `oldIds` has the old id of each new one.
   */
  seal(oldIds: Uint16Array): void {
    const heads = new Uint32Array(oldIds.length);
    const bytes = new Uint8Array(this.lengths.reduce((sum, length) => sum + length, 0));
    let used = 0;
    for (let term = 0; term < oldIds.length; term++) {
      const head = this.heads[oldIds[term]!]!;
      heads[term] = head;
      if (head & SINGLE) continue;
      const start = this.starts[head - 1]!;
      const length = this.lengths[head - 1]!;
      bytes.set(this.bytes.subarray(start, start + length), used);
      this.starts[head - 1] = used;
      used += length;
    }
    this.heads = heads;
    this.bytes = bytes;
    this.starts = this.starts.slice(0, this.listCount);
    this.counts = this.counts.slice(0, this.listCount);
    this.lengths = new Uint16Array(0);
    this.lasts = new Uint16Array(0);
    this.free.clear();
  }

  private addList(): number {
    const list = this.listCount++;
    this.starts = withCapacity(this.starts, this.listCount);
    this.lengths = withCapacity(this.lengths, this.listCount);
    this.counts = withCapacity(this.counts, this.listCount);
    this.lasts = withCapacity(this.lasts, this.listCount);
    this.starts[list] = this.allocate(MIN_CAPACITY);
    return list;
  }

  private append(list: number, document: number, weight: number): void {
    const distance = document - this.lasts[list]!;
    const length = this.lengths[list]!;
    this.ensureCapacity(list, length + (distance < MORE ? 2 : 3));
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

  private ensureCapacity(list: number, length: number): void {
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
    this.bytes = withCapacity(this.bytes, this.used);
    return start;
  }
}

/** The smallest power of two that holds the list, so that a list of n postings moves log n times. */
function capacityOf(length: number): number {
  return length <= MIN_CAPACITY ? MIN_CAPACITY : 1 << (32 - Math.clz32(length - 1));
}

type TypedArray = Uint8Array | Uint16Array | Uint32Array;

/** The array itself if it is long enough, else a copy of at least twice its length. */
export function withCapacity<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}
