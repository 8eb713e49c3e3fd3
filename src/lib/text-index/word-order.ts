import { partitionPoint } from '../sorted/binary-search.js';

const BLOCK = 512;

/**
 * The numbers of words in the order of the words, in blocks, so that inserting one moves a block at most and nothing is
 * ever sorted as a whole.
 */
export class WordOrder {
  private readonly blocks = [new Uint16Array(BLOCK)];
  private readonly lengths = [0];
  private size = 0;
  private all: Uint16Array | undefined;

  /** The place that was sought. */
  private block = 0;
  private slot = 0;

  /** Goes to the first number of which the question is not true, and says which it is. */
  seek(isBefore: (number: number) => boolean): number | undefined {
    const { blocks, lengths } = this;
    this.block = partitionPoint(1, blocks.length, (index) => isBefore(blocks[index]![0]!)) - 1;
    const block = blocks[this.block]!;
    const length = lengths[this.block]!;
    this.slot = partitionPoint(0, length, (index) => isBefore(block[index]!));
    return this.slot < length ? block[this.slot] : blocks[this.block + 1]?.[0];
  }

  /** At the place that was sought. */
  insert(number: number): void {
    if (this.lengths[this.block] === BLOCK) this.split();
    const block = this.blocks[this.block]!;
    block.copyWithin(this.slot + 1, this.slot, this.lengths[this.block]);
    block[this.slot] = number;
    this.lengths[this.block]!++;
    this.size++;
    this.all = undefined;
  }

  /** All of them. */
  numbers(): Uint16Array {
    if (this.all) return this.all;
    const all = new Uint16Array(this.size);
    let filled = 0;
    for (const [index, block] of this.blocks.entries()) {
      all.set(block.subarray(0, this.lengths[index]), filled);
      filled += this.lengths[index]!;
    }
    return (this.all = all);
  }

  /** At the end of the block when that is the place, so that words that come in order leave full blocks behind. */
  private split(): void {
    const at = this.slot === BLOCK ? BLOCK : BLOCK / 2;
    const second = new Uint16Array(BLOCK);
    second.set(this.blocks[this.block]!.subarray(at));
    this.blocks.splice(this.block + 1, 0, second);
    this.lengths.splice(this.block, 1, at, BLOCK - at);
    if (this.slot < BLOCK && this.slot <= at) return;
    this.block++;
    this.slot -= at;
  }
}
