import { partitionPoint } from '../sorted/binary-search.js';

const BLOCK_SIZE = 512;

/**
 * Term ids in the order of their terms. They are stored in blocks, so that an insertion moves the ids of at most one block.
 */
export class SortedTerms {
  private readonly blocks = [new Uint16Array(BLOCK_SIZE)];
  private readonly lengths = [0];
  private size = 0;
  private cachedIds: Uint16Array | undefined;

  /** The position that the last `seek` has found: the index of a block, and an index within this block. */
  private block = 0;
  private slot = 0;

  /** Moves to the first id for which `isBefore` is false, and returns it. */
  seek(isBefore: (id: number) => boolean): number | undefined {
    const { blocks, lengths } = this;
    this.block = partitionPoint(1, blocks.length, (index) => isBefore(blocks[index]![0]!)) - 1;
    const block = blocks[this.block]!;
    const length = lengths[this.block]!;
    this.slot = partitionPoint(0, length, (index) => isBefore(block[index]!));
    return this.slot < length ? block[this.slot] : blocks[this.block + 1]?.[0];
  }

  /** Inserts at the position of the last `seek`. */
  insert(id: number): void {
    if (this.lengths[this.block] === BLOCK_SIZE) this.split();
    const block = this.blocks[this.block]!;
    block.copyWithin(this.slot + 1, this.slot, this.lengths[this.block]);
    block[this.slot] = id;
    this.lengths[this.block]!++;
    this.size++;
    this.cachedIds = undefined;
  }

  /** All ids in order. */
  ids(): Uint16Array {
    if (this.cachedIds) return this.cachedIds;
    const ids = new Uint16Array(this.size);
    let filled = 0;
    for (const [index, block] of this.blocks.entries()) {
      ids.set(block.subarray(0, this.lengths[index]), filled);
      filled += this.lengths[index]!;
    }
    this.cachedIds = ids;
    return ids;
  }

  /**
   * Splits a full block in the middle. If the insertion is at the end of the block, splits at the end instead, so that
   * terms that are added in order leave full blocks.
   */
  private split(): void {
    const at = this.slot === BLOCK_SIZE ? BLOCK_SIZE : BLOCK_SIZE / 2;
    const second = new Uint16Array(BLOCK_SIZE);
    second.set(this.blocks[this.block]!.subarray(at));
    this.blocks.splice(this.block + 1, 0, second);
    this.lengths.splice(this.block, 1, at, BLOCK_SIZE - at);
    const isInFirstBlock = this.slot < BLOCK_SIZE && this.slot <= at;
    if (isInFirstBlock) return;
    this.block++;
    this.slot -= at;
  }
}
