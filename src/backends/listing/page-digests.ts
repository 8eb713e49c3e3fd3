import { createHash } from 'node:crypto';
import type { JsonText } from '../../lib/json-text/json-text.js';

/** Longer pages are not compared, because computing their digest would block the event loop. */
const MAX_DIGESTED_LENGTH = 1_048_576;
/** Pages that are kept until it is known whether the list has changed. */
const MAX_HELD_PAGES = 64;
const MAX_HELD_LENGTH = 4 * MAX_DIGESTED_LENGTH;

/** The digests of the pages of one list, in order. Undefined when the list has too many pages or a page is too long. */
export type PageDigests = readonly string[] | undefined;

/**
 * Compares the pages of a list with the pages of the previous fetch. Equal pages are held back: if all pages are equal, none
 * has to be read.
 */
export class PageComparison {
  private readonly digests: string[] = [];
  private held: JsonText[] | undefined = [];
  private heldLength = 0;
  private isComparable = true;

  constructor(private readonly before: PageDigests) {
    if (!before) this.held = undefined;
  }

  /** Returns the pages that are to be read now, in order: none while all pages are as before. */
  add(page: JsonText): readonly JsonText[] {
    const digest = this.digestOf(page);
    const { held } = this;
    if (!held) return [page];
    held.push(page);
    this.heldLength += page.text.length;
    const isSame = digest !== undefined && digest === this.before?.[held.length - 1];
    if (isSame && held.length < MAX_HELD_PAGES && this.heldLength < MAX_HELD_LENGTH) return [];
    this.held = undefined;
    return held;
  }

  /** To be called after the last page: the pages that were held back and have to be read after all. */
  rest(): readonly JsonText[] {
    const { held } = this;
    this.held = undefined;
    return held ?? [];
  }

  /** Whether all pages are as before. To be called after the last page. */
  get isUnchanged(): boolean {
    return this.held !== undefined && this.held.length === this.before?.length;
  }

  get result(): PageDigests {
    return this.isComparable ? this.digests : undefined;
  }

  private digestOf({ text }: JsonText): string | undefined {
    this.isComparable &&= text.length <= MAX_DIGESTED_LENGTH && this.digests.length < MAX_HELD_PAGES;
    if (!this.isComparable) return undefined;
    const digest = createHash('sha256').update(text).digest('base64');
    this.digests.push(digest);
    return digest;
  }
}
