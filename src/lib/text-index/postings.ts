/** Maximum number of documents in a segment. Document ids are less than this. */
export const MAX_DOCUMENTS = 4096;

/**
 * Flag in an entry of `heads` whose term has a single posting, as most terms have. The entry then contains the posting: the
 * document in bits 8 to 23 and the weight in bits 0 to 7.
 */
const SINGLE = 1 << 24;
/** Minimum capacity of a list in bytes. */
const MIN_CAPACITY = 8;
/**
 * Flag in the first byte of a distance between documents that takes two bytes. The first byte has the lower 7 bits of the
 * distance, and the second byte has the other bits.
 */
const MORE = 0x80;

/** A reusable buffer for the decoded postings of one term, by ascending document. */
export class PostingList {
  size = 0;
  readonly documents = new Uint16Array(MAX_DOCUMENTS);
  readonly weights = new Uint8Array(MAX_DOCUMENTS);
}

/**
 * The postings of each term id: the documents that have the term, and the weight of the term in each of them. The postings
 * of a term form a list in a shared array of bytes. Each posting is the distance from the previous document in one or two
 * bytes, and the weight in one byte.
 */
export class Postings {
  /** Number of postings of all terms. */
  size = 0;
  /**
   * By term: the only posting of the term (see `SINGLE`), or the index of its list plus one; 0 if the term has no posting.
   */
  private heads = new Uint32Array(32);

  private listCount = 0;
  /** By list: its position in `bytes`, its length in bytes, its number of postings, and its last document. */
  private starts = new Uint32Array(16);
  private lengths = new Uint16Array(16);
  private counts = new Uint16Array(16);
  private lasts = new Uint16Array(16);

  private bytes = new Uint8Array(256);
  private usedBytes = 0;
  /** By capacity: the positions in `bytes` that became free when lists moved. */
  private readonly freeStarts = new Map<number, number[]>();

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

  /** Number of postings of a term. */
  count(term: number): number {
    const head = this.heads[term]!;
    return head & SINGLE ? 1 : this.counts[head - 1]!;
  }

  /** Decodes the postings of a term into `list`. */
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
   * afterwards. `oldIds` contains the old id of each new id.
   */
  seal(oldIds: Uint16Array): void {
    const heads = new Uint32Array(oldIds.length);
    const bytes = new Uint8Array(this.lengths.reduce((sum, length) => sum + length, 0));
    let usedBytes = 0;
    for (let term = 0; term < oldIds.length; term++) {
      const head = this.heads[oldIds[term]!]!;
      heads[term] = head;
      if (head & SINGLE) continue;
      const start = this.starts[head - 1]!;
      const length = this.lengths[head - 1]!;
      bytes.set(this.bytes.subarray(start, start + length), usedBytes);
      this.starts[head - 1] = usedBytes;
      usedBytes += length;
    }
    this.heads = heads;
    this.bytes = bytes;
    this.starts = this.starts.slice(0, this.listCount);
    this.counts = this.counts.slice(0, this.listCount);
    this.lengths = new Uint16Array(0);
    this.lasts = new Uint16Array(0);
    this.freeStarts.clear();
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

  /** Appends a posting to a list. */
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

  /** Moves a list to a larger place if it would outgrow its capacity. */
  private ensureCapacity(list: number, length: number): void {
    const oldCapacity = capacityOf(this.lengths[list]!);
    const capacity = capacityOf(length);
    if (capacity === oldCapacity) return;
    const oldStart = this.starts[list]!;
    const start = this.allocate(capacity);
    this.bytes.copyWithin(start, oldStart, oldStart + this.lengths[list]!);
    this.starts[list] = start;
    const freeStarts = this.freeStarts.get(oldCapacity);
    if (freeStarts) freeStarts.push(oldStart);
    else this.freeStarts.set(oldCapacity, [oldStart]);
  }

  /** Returns the position of an unused place in `bytes`. */
  private allocate(capacity: number): number {
    const freeStart = this.freeStarts.get(capacity)?.pop();
    if (freeStart !== undefined) return freeStart;
    const start = this.usedBytes;
    this.usedBytes += capacity;
    this.bytes = withCapacity(this.bytes, this.usedBytes);
    return start;
  }
}

/** The capacity of a list of this length: a power of two, so that a list of n postings moves at most log n times. */
function capacityOf(length: number): number {
  return length <= MIN_CAPACITY ? MIN_CAPACITY : 1 << (32 - Math.clz32(length - 1));
}

type TypedArray = Uint8Array | Uint16Array | Uint32Array;

/** Returns the array itself if it is long enough. If it is not, returns a copy that is at least twice as long. */
export function withCapacity<T extends TypedArray>(array: T, length: number): T {
  if (length <= array.length) return array;
  const larger = new (array.constructor as new (length: number) => T)(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}
