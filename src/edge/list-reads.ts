import type { ListPage } from '../core/catalog/list-page.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/** If a client does not request the next page within this time, it counts as having stopped reading the list. */
const NEXT_PAGE_WAIT_MS = 10_000;

interface ListRead {
  /** Number of entries on the pages so far. */
  entries: number;
  /** When the latest page was served, as `performance.now()`. */
  servedAt: number;
  /** Whether the client has stopped reading before the last page. */
  isAbandoned: boolean;
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
  private readonly abandonedListeners = new ListenerSet<[list: UnfinishedList]>();

  /** Calls the listener when the client stops reading a list before its last page. */
  onAbandoned(listener: (list: UnfinishedList) => void): void {
    this.abandonedListeners.add(listener);
  }

  /** Call this for every page that the client gets. */
  pageServed(method: string, { size, isFirst, hasMore }: ListPage, now = performance.now()): void {
    const read = this.reads.get(method);
    if (isFirst && read) this.abandon(method, read);
    if (!hasMore) {
      this.reads.delete(method);
      return;
    }
    const continuedRead = isFirst ? undefined : read;
    this.reads.set(method, {
      entries: (continuedRead?.entries ?? 0) + size,
      servedAt: now,
      isAbandoned: continuedRead?.isAbandoned ?? false,
    });
  }

  /** Called periodically. Reports the lists whose next page was not requested in time. */
  checkNextPages(now = performance.now()): void {
    for (const [method, read] of this.reads)
      if (now - read.servedAt >= NEXT_PAGE_WAIT_MS) this.abandon(method, read);
  }

  close(): void {
    for (const [method, read] of this.reads) this.abandon(method, read);
  }

  get unfinished(): UnfinishedList[] {
    return [...this.reads].flatMap(([method, { entries, isAbandoned }]) =>
      isAbandoned ? { method, entries } : [],
    );
  }

  /** Reports a read. A read that the client continues later is not reported again. */
  private abandon(method: string, read: ListRead): void {
    if (read.isAbandoned) return;
    read.isAbandoned = true;
    this.abandonedListeners.emit({ method, entries: read.entries });
  }
}
