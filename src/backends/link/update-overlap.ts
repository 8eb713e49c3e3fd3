interface UpdateCounts {
  /** Updates on replaced streams. */
  old: number;
  /** Updates on the stream that replaces them. */
  new: number;
}

/**
 * Passes each update once while a listen stream and those that it replaces are open. The server sends an update on both, or,
 * before it has opened the new stream, only on the old one. The two arrive on different connections, in any order. So of each
 * URI as many updates pass as came on the stream with the most.
 */
export class UpdateOverlap {
  private readonly counts = new Map<unknown, UpdateCounts>();

  constructor(private readonly oldIds: readonly unknown[]) {}

  /** `id` is that of the stream on which the update came. An overlap with other streams passes everything. */
  passes(uri: unknown, id: unknown): boolean {
    const counts = this.counts.get(uri) ?? { old: 0, new: 0 };
    this.counts.set(uri, counts);
    const before = Math.max(counts.old, counts.new);
    if (this.oldIds.includes(id)) counts.old++;
    else counts.new++;
    return Math.max(counts.old, counts.new) > before;
  }
}
