import type { ListPage } from '../core/catalog/list-page.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/** If a client does not request the next page within this time, it counts as having stopped reading the list. */
const NEXT_PAGE_WAIT_MS = 10_000;

interface ListRead {
  /** Number of entries on the pages so far. */
  entries: number;
  /** When the latest page was served, as `performance.now()`. */
  servedAt: number;
  /** Whether the read was reported as unfinished. Stays true if the client continues it. */
  wasReported: boolean;
}

/** A list that the client has stopped reading before its last page. */
export interface UnfinishedList {
  /** The MCP method of the list. */
  readonly method: string;
  /** Number of entries on the pages that the client got. */
  readonly entries: number;
}

/** Finds the lists that one client does not read to their last page. Some clients request only the first page. */
export class ListReads {
  /** By method: the latest read of the list, unless it has reached the last page. */
  private readonly reads = new Map<string, ListRead>();
  private readonly unfinishedListeners = new ListenerSet<[list: UnfinishedList]>();

  /** Calls the listener when the client stops reading a list before its last page. */
  onUnfinished(listener: (list: UnfinishedList) => void): void {
    this.unfinishedListeners.add(listener);
  }

  /** Call this for every page that the client gets. */
  pageServed(method: string, { size, isFirst, hasMore }: ListPage, now = performance.now()): void {
    const read = this.reads.get(method);
    if (isFirst && read) this.report(method, read);
    if (!hasMore) {
      this.reads.delete(method);
      return;
    }
    const continuedRead = isFirst ? undefined : read;
    this.reads.set(method, {
      entries: (continuedRead?.entries ?? 0) + size,
      servedAt: now,
      wasReported: continuedRead?.wasReported ?? false,
    });
  }

  /** Called periodically. Reports the lists whose next page was not requested in time. */
  checkNextPages(now = performance.now()): void {
    for (const [method, read] of this.reads)
      if (now - read.servedAt >= NEXT_PAGE_WAIT_MS) this.report(method, read);
  }

  close(): void {
    for (const [method, read] of this.reads) this.report(method, read);
  }

  /** The reported lists that the client has since neither read to the last page nor begun again. */
  get unfinished(): UnfinishedList[] {
    return [...this.reads].flatMap(([method, { entries, wasReported }]) =>
      wasReported ? { method, entries } : [],
    );
  }

  /** Reports a read once, even if the client continues it later and stops again. */
  private report(method: string, read: ListRead): void {
    if (read.wasReported) return;
    read.wasReported = true;
    this.unfinishedListeners.emit({ method, entries: read.entries });
  }
}
