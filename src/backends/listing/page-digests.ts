import { createHash } from 'node:crypto';
import type { JsonText } from '../../lib/json-text/json-text.js';

/** A page with more characters is not compared, because computing its digest would block the event loop. */
const MAX_DIGESTED_LENGTH = 1_048_576;
/** Maximum number of pages that are held back. */
const MAX_HELD_PAGES = 64;
/** Maximum characters of all pages together that are held back. */
const MAX_HELD_LENGTH = 4 * MAX_DIGESTED_LENGTH;

/** The digests of the pages of one list, in order. Undefined when the list has too many pages or a page is too long. */
export type PageDigests = readonly string[] | undefined;

/**
 * Compares the pages of a list with the digests of the previous fetch. Pages are held back as long as they are the same as
 * before: if all pages of the list are the same, the items of no page have to be parsed.
 */
export class PageComparison {
  private readonly digests: string[] = [];
  /** The pages that are held back, from the first page on. Undefined when pages are no longer held back. */
  private heldPages: JsonText[] | undefined = [];
  private heldLength = 0;
  /** Whether `digests` has the digests of all pages so far. */
  private isComplete = true;

  constructor(private readonly previous: PageDigests) {
    if (!previous) this.heldPages = undefined;
  }

  /** Returns the pages whose items have to be parsed now, in order. */
  add(page: JsonText): readonly JsonText[] {
    const digest = this.addDigest(page);
    const { heldPages } = this;
    if (!heldPages) return [page];
    heldPages.push(page);
    this.heldLength += page.text.length;
    const isSame = digest !== undefined && digest === this.previous?.[heldPages.length - 1];
    if (isSame && heldPages.length < MAX_HELD_PAGES && this.heldLength < MAX_HELD_LENGTH) return [];
    return this.takeHeldPages();
  }

  /** The pages that are held back. To be called after the last page of a changed list: their items have to be parsed too. */
  takeHeldPages(): readonly JsonText[] {
    const { heldPages } = this;
    this.heldPages = undefined;
    return heldPages ?? [];
  }

  /** Whether all pages are the same as before. To be called after the last page. */
  get isUnchanged(): boolean {
    return this.heldPages !== undefined && this.heldPages.length === this.previous?.length;
  }

  /** The digests of the pages of this fetch. */
  get newDigests(): PageDigests {
    return this.isComplete ? this.digests : undefined;
  }

  private addDigest({ text }: JsonText): string | undefined {
    if (text.length > MAX_DIGESTED_LENGTH || this.digests.length >= MAX_HELD_PAGES) this.isComplete = false;
    if (!this.isComplete) return undefined;
    const digest = createHash('sha256').update(text).digest('base64');
    this.digests.push(digest);
    return digest;
  }
}
