import { SharedJson } from '../../lib/json-text/json-text.js';

/** An item of a list. The list is sorted by `key`, which is also the position of the item in cursors. */
export interface PageItem {
  readonly key: string;
  readonly text: string;
}

/** Turns the last key of a page into the cursor of the next. */
export type SignCursor = (position: string) => string;

/** A list that is served in pages. */
export interface Paged {
  /** The list result of up to `size` items after the key `after`; an empty key starts at the beginning. */
  page(member: string, after: string, size: number, signCursor: SignCursor): SharedJson;
}

export function pageText(
  member: string,
  items: readonly PageItem[],
  more: boolean,
  signCursor: SignCursor,
): SharedJson {
  const list = items.map(({ text }) => text).join(',');
  const last = items.at(-1);
  const cursor = more && last ? `,"nextCursor":${JSON.stringify(signCursor(last.key))}` : '';
  return new SharedJson(`{${JSON.stringify(member)}:[${list}]${cursor}}`);
}

const MAX_CHARACTERS = 33_554_432;

/** Pages that were built, for all clients with the same view. When they take too much memory, the oldest are evicted. */
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
