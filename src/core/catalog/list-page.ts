import { SharedJson } from '../../lib/json-text/json-text.js';

/** Something listed: the key it is sorted by, which is also its place in the list, and its text. */
export interface PageItem {
  readonly key: string;
  readonly text: string;
}

/** Turns the last key of a page into the cursor of the next. */
export type SealCursor = (position: string) => string;

/** What a list can be cut into pages from. */
export interface Paged {
  /** The list result that follows the key `after`; an empty one is the beginning. */
  page(member: string, after: string, size: number, seal: SealCursor): SharedJson;
}

export function pageText(
  member: string,
  items: readonly PageItem[],
  more: boolean,
  seal: SealCursor,
): SharedJson {
  const list = items.map(({ text }) => text).join(',');
  const last = items.at(-1);
  const cursor = more && last ? `,"nextCursor":${JSON.stringify(seal(last.key))}` : '';
  return new SharedJson(`{${JSON.stringify(member)}:[${list}]${cursor}}`);
}

const MOST_CHARACTERS = 33_554_432;

/** Pages that were built, for all who ask for the same. When they take too much room, the oldest go. */
export class PageCache {
  private readonly pages = new Map<string, SharedJson>();
  private characters = 0;

  constructor(private readonly most = MOST_CHARACTERS) {}

  get(key: string, build: () => SharedJson): SharedJson {
    const known = this.pages.get(key);
    if (known) return known;
    const page = build();
    this.pages.set(key, page);
    this.characters += sizeOf(key, page);
    this.makeRoom();
    return page;
  }

  private makeRoom(): void {
    for (const [key, page] of this.pages) {
      if (this.characters <= this.most || this.pages.size === 1) return;
      this.pages.delete(key);
      this.characters -= sizeOf(key, page);
    }
  }
}

const sizeOf = (key: string, { text }: SharedJson): number => key.length + text.length;
