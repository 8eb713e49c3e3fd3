interface UpdateCounts {
  /** Updates on replaced streams. */
  old: number;
  /** Updates on the stream that replaces them. */
  new: number;
}

/**
 * Passes each update once while a listen stream and those that it replaces are open. The server sends an update on both, or,
 * before it has opened the new stream, only on the old one. The two arrive on different connections, in any order. So an
 * update passes if it raises the larger of two numbers: the updates of its URI on the old stream, and those on the new one.
 */
export class UpdateOverlap {
  private readonly counts = new Map<unknown, UpdateCounts>();

  constructor(private readonly oldIds: readonly unknown[]) {}

  /** `id` is that of the stream on which the update came. Updates of URIs that none of these streams has always pass. */
  passes(uri: unknown, id: unknown): boolean {
    const counts = this.counts.get(uri) ?? { old: 0, new: 0 };
    this.counts.set(uri, counts);
    const before = Math.max(counts.old, counts.new);
    if (this.oldIds.includes(id)) counts.old++;
    else counts.new++;
    return Math.max(counts.old, counts.new) > before;
  }
}
