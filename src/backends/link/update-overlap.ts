interface UpdateCounts {
  /** Updates on replaced streams. */
  old: number;
  /** Updates on the stream that replaces them. */
  new: number;
}

/**
 * Lets each update pass once while a new listen stream and the old streams that it replaces are open. The server sends an
 * update on the old and on the new stream or, before it has opened the new stream, only on the old one. The copies arrive on
 * different connections, in any order. Two numbers are counted for each URI: the updates on the old stream, and those on the
 * new stream. An update passes if it raises the larger of the two.
 */
export class UpdateOverlap {
  private readonly counts = new Map<unknown, UpdateCounts>();

  constructor(private readonly oldIds: readonly unknown[]) {}

  /**
   * `id` is the id of the stream on which the update came. All updates of a URI pass for which the old streams send none, because
   * their count stays 0.
   */
  passes(uri: unknown, id: unknown): boolean {
    const counts = this.counts.get(uri) ?? { old: 0, new: 0 };
    this.counts.set(uri, counts);
    const previousMaximum = Math.max(counts.old, counts.new);
    if (this.oldIds.includes(id)) counts.old++;
    else counts.new++;
    return Math.max(counts.old, counts.new) > previousMaximum;
  }
}
