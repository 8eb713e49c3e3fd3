import { SharedJson } from '../../lib/json-text/json-text.js';
import type { Yield } from '../../lib/slices/slices.js';

/** An item of a list that is sorted by `key`. Cursors contain the key of an item as position in the list. */
export interface PageItem {
  readonly key: string;
  /** The item as JSON. */
  readonly text: string;
}

/** Turns the last key of a page into a signed cursor, with which a client requests the next page. */
export type SignCursor = (lastKey: string) => string;

/** A list that is served in pages. */
export interface Paged {
  /**
   * Returns the result of a list request, with up to `size` items after the key `after` (empty for the first page).
   * `member` is the property of the result that holds the items, such as `tools`.
   */
  page(member: string, after: string, size: number, signCursor: SignCursor): SharedJson;
  /**
   * Sorts the list in slices. Undefined when that is done. A list that was not prepared is sorted when its first page is
   * read, which blocks the event loop if the list is long.
   */
  prepare(startSlices: () => Yield): Promise<unknown> | undefined;
}

export function pageText(
  member: string,
  items: readonly PageItem[],
  hasMore: boolean,
  signCursor: SignCursor,
): SharedJson {
  const list = items.map(({ text }) => text).join(',');
  const last = items.at(-1);
  const cursor = hasMore && last ? `,"nextCursor":${JSON.stringify(signCursor(last.key))}` : '';
  return new SharedJson(`{${JSON.stringify(member)}:[${list}]${cursor}}`);
}

const MAX_BYTES = 67_108_864;

interface CachedPage {
  readonly key: string;
  readonly page: SharedJson;
  /** The pages of the same list, by key. */
  readonly pages: Map<string, CachedPage>;
  readonly bytes: number;
}

/** Shares the built pages of all lists between all clients with the same view. Evicts the oldest pages above `maxBytes`. */
export class PageCache {
  /** A list that is replaced is not retained; its pages are, until they are evicted. */
  private readonly lists = new WeakMap<object, Map<string, CachedPage>>();
  private readonly byAge = new Set<CachedPage>();
  private bytes = 0;

  constructor(
    private readonly maxBytes = MAX_BYTES,
    private readonly onEvicted: () => void = () => {},
  ) {}

  get(list: object, key: string, build: () => SharedJson): SharedJson {
    const pages = this.lists.get(list);
    return (pages?.get(key) ?? this.add(list, key, build())).page;
  }

  private add(list: object, key: string, page: SharedJson): CachedPage {
    const pages = this.lists.get(list) ?? new Map<string, CachedPage>();
    this.lists.set(list, pages);
    const cached = { key, page, pages, bytes: bytesOf(key, page) };
    pages.set(key, cached);
    this.byAge.add(cached);
    this.bytes += cached.bytes;
    this.evict();
    return cached;
  }

  private evict(): void {
    for (const oldest of this.byAge) {
      if (this.bytes <= this.maxBytes || this.byAge.size === 1) return;
      this.byAge.delete(oldest);
      oldest.pages.delete(oldest.key);
      this.bytes -= oldest.bytes;
      this.onEvicted();
    }
  }
}

/** The memory of the encoded page, of its text and of its key. V8 stores ASCII as one byte per character, else two. */
const bytesOf = (key: string, { bytes, text }: SharedJson): number =>
  bytes.length + text.length * (bytes.length === text.length ? 1 : 2) + key.length;
