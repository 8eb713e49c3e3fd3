import { detachedCopy } from './json-text.js';

export interface TextCacheLimits {
  /** Maximum number of stored texts. */
  readonly texts: number;
  /** Maximum length of a stored text in characters. */
  readonly length: number;
}

/** Caches the results of a function of texts. Only the results of short texts are stored. A full cache is cleared. */
export class TextCache {
  private readonly results = new Map<string, string>();

  constructor(
    private readonly compute: (text: string) => string,
    private readonly limits: TextCacheLimits,
  ) {}

  get size(): number {
    return this.results.size;
  }

  get(text: string): string {
    const cached = this.results.get(text);
    if (cached !== undefined) return cached;
    const result = this.compute(text);
    if (text.length > this.limits.length) return result;
    if (this.results.size >= this.limits.texts) this.results.clear();
    // Copies, because a slice of a message would keep the whole message in memory.
    this.results.set(detachedCopy(text), detachedCopy(result));
    return result;
  }
}
