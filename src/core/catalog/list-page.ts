import { SharedJson } from '../../lib/json-text/json-text.js';

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

const MAX_CHARACTERS = 33_554_432;

/** Shares built pages between all clients with the same view. Evicts the oldest pages above `maxCharacters`. */
export class PageCache {
  private readonly pages = new Map<string, SharedJson>();
  private characters = 0;

  constructor(private readonly maxCharacters = MAX_CHARACTERS) {}

  get(key: string, build: () => SharedJson): SharedJson {
    const known = this.pages.get(key);
    if (known) return known;
    const page = build();
    this.pages.set(key, page);
    this.characters += sizeOf(key, page);
    this.evict();
    return page;
  }

  private evict(): void {
    for (const [key, page] of this.pages) {
      if (this.characters <= this.maxCharacters || this.pages.size === 1) return;
      this.pages.delete(key);
      this.characters -= sizeOf(key, page);
    }
  }
}

const sizeOf = (key: string, { text }: SharedJson): number => key.length + text.length;
