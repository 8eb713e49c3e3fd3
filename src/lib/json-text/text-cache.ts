import { detachedCopy } from './json-text.js';

export interface TextCacheLimits {
  /** Maximum number of stored texts. */
  readonly texts: number;
  /** Maximum length of a stored text in characters. */
  readonly length: number;
  /** Whether to store a text. Called when the text is not stored yet. Without it, all short texts are stored. */
  readonly stores?: (text: string) => boolean;
}

interface CachedResult {
  readonly text: string;
  readonly result: string;
}

/** Caches the results of a function of texts. Only the results of short texts are stored. A full cache is cleared. */
export class TextCache {
  private readonly results = new Map<string, CachedResult>();
  /** The result that was found last. Comparing its text is faster than computing the hash of a text. */
  private latest: CachedResult | undefined;

  constructor(
    private readonly compute: (text: string) => string,
    private readonly limits: TextCacheLimits,
  ) {}

  get size(): number {
    return this.results.size;
  }

  get(text: string): string {
    const found = this.find(text);
    if (found) return found.result;
    const result = this.compute(text);
    const { length, texts, stores } = this.limits;
    if (text.length > length || stores?.(text) === false) return result;
    if (this.results.size >= texts) this.results.clear();
    // Copies, because a slice of a message would keep the whole message in memory.
    this.latest = { text: detachedCopy(text), result: detachedCopy(result) };
    this.results.set(this.latest.text, this.latest);
    return result;
  }

  private find(text: string): CachedResult | undefined {
    if (this.latest?.text === text) return this.latest;
    if (text.length > this.limits.length) return undefined;
    const found = this.results.get(text);
    if (found) this.latest = found;
    return found;
  }
}
