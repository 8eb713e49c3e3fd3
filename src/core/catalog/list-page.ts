import { SharedJson } from '../../lib/json-text/json-text.js';
import { encodeSteps } from '../../lib/json-text/scanned-object.js';
import type { Era } from '../errors.js';
import type { Steps } from '../../lib/slices/run-sliced.js';
import type { Yield } from '../../lib/slices/slices.js';

/** An item of a list that is sorted by `key`. A cursor contains the key of the item before the requested page. */
export interface PageItem {
  readonly key: string;
  /** The item as JSON. */
  readonly text: string;
  /** The item as JSON for clients of the 2026 era, if it differs from `text`. */
  readonly modernText?: string | undefined;
}

/** Turns the last key of a page into a signed cursor, with which a client requests the next page. */
export type SignCursor = (lastKey: string) => string;

/**
 * Maximum length of a page in characters, so that one page takes little memory. A page ends before the item that would
 * exceed this maximum, but has at least one item.
 */
export const MAX_PAGE_LENGTH = 4_194_304;

/** `buildPage` yields each time it has added this number of items. */
const ITEMS_PER_STEP = 16;

/** The result of one list request. */
export class ListPage extends SharedJson {
  constructor(
    text: string,
    bytes: Buffer,
    /** Number of items. */
    readonly size: number,
    readonly isFirst: boolean,
    readonly hasMore: boolean,
    /** Whether clients of the other era get other texts for this page. */
    readonly differsByEra = false,
  ) {
    super(text, undefined, bytes);
  }
}

/** Which page of a list is requested. */
export interface PageRequest {
  /** The property of the result that holds the items, such as `tools`. */
  readonly member: string;
  /** The page starts after the item with this key; empty for the first page. */
  readonly after: string;
  /** Maximum number of items. */
  readonly size: number;
  readonly signCursor: SignCursor;
  /** The era of the client: 2025 by default. */
  readonly era?: Era;
}

/** A list that is served in pages. */
export interface Paged {
  page(request: PageRequest): Steps<ListPage>;
  /**
   * Sorts the list in slices. Returns undefined if the list is sorted already. Reading a page of a list that is not
   * sorted sorts the list at once, which blocks the event loop if the list is long.
   */
  prepare(startSlices: () => Yield): Promise<unknown> | undefined;
}

/**
 * Builds a page. `items` are those that follow `after` in the list. Reads one item more than the page contains, to find
 * out whether there is a next page.
 */
export function* buildPage(
  { member, after, size, signCursor, era = '2025' }: PageRequest,
  items: Iterable<PageItem>,
): Steps<ListPage> {
  const texts: string[] = [];
  let length = 0;
  let lastKey = '';
  let hasMore = false;
  let differsByEra = false;
  for (const { key, text: legacyText, modernText } of items) {
    const text = era === '2026' ? (modernText ?? legacyText) : legacyText;
    length += text.length;
    hasMore = texts.length === size || (texts.length > 0 && length > MAX_PAGE_LENGTH);
    if (hasMore) break;
    differsByEra ||= modernText !== undefined;
    lastKey = key;
    texts.push(text);
    if (texts.length % ITEMS_PER_STEP === 0) yield;
  }
  const cursor = hasMore ? `,"nextCursor":${JSON.stringify(signCursor(lastKey))}` : '';
  const text = `{${JSON.stringify(member)}:[${texts.join(',')}]${cursor}}`;
  return new ListPage(text, yield* encodeSteps(text), texts.length, after === '', hasMore, differsByEra);
}

/** Maximum memory of all cached pages together. */
const MAX_CACHE_BYTES = 67_108_864;

interface CachedPage {
  readonly key: string;
  readonly page: ListPage;
  /** All pages of the list, including this one. */
  readonly pages: PagesByKey;
  readonly bytes: number;
}

/** A promise stands for a page that is being built. */
type PagesByKey = Map<string, CachedPage | Promise<ListPage>>;

/**
 * Caches list pages, so that clients with the same view of a list share them. Evicts the oldest pages while all pages
 * together have more than `maxBytes`. The newest page stays, even if it is larger.
 */
export class PageCache {
  /** Weak, so that a list that is no longer used can be collected. Its pages stay in `byAge` until they are evicted. */
  private readonly lists = new WeakMap<object, PagesByKey>();
  private readonly byAge = new Set<CachedPage>();
  private bytes = 0;

  constructor(
    private readonly maxBytes = MAX_CACHE_BYTES,
    private readonly onEvicted: () => void = () => {},
  ) {}

  /** Returns the page of `list` that is cached under `key`, or builds it. Concurrent requests for a page share one build. */
  get(list: object, key: string, build: () => Promise<ListPage>): ListPage | Promise<ListPage> {
    const pages = this.lists.get(list) ?? new Map<string, CachedPage | Promise<ListPage>>();
    this.lists.set(list, pages);
    const cached = pages.get(key);
    if (cached) return cached instanceof Promise ? cached : cached.page;
    const building = this.build(pages, key, build);
    pages.set(key, building);
    return building;
  }

  private async build(pages: PagesByKey, key: string, build: () => Promise<ListPage>): Promise<ListPage> {
    try {
      const page = await build();
      this.add({ key, page, pages, bytes: bytesOf(key, page) });
      return page;
    } catch (error) {
      pages.delete(key);
      throw error;
    }
  }

  private add(cached: CachedPage): void {
    cached.pages.set(cached.key, cached);
    this.byAge.add(cached);
    this.bytes += cached.bytes;
    this.evict();
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

/**
 * The memory of a cached page. V8 stores a character of a text in one byte if the whole text is ASCII, otherwise in
 * two.
 */
const bytesOf = (key: string, { bytes, text }: ListPage): number =>
  bytes.length + text.length * (bytes.length === text.length ? 1 : 2) + key.length;
