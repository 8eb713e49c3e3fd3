import { detachedCopy } from './json-text.js';

export interface TextCacheLimits {
  readonly texts: number;
  /** Longer texts are not stored. */
  readonly length: number;
}

/** The results of a function of texts, stored for short texts that are met again. When the cache is full, it begins anew. */
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
    const known = this.results.get(text);
    if (known !== undefined) return known;
    const result = this.compute(text);
    if (text.length > this.limits.length) return result;
    if (this.results.size >= this.limits.texts) this.results.clear();
    // A slice would keep the message in memory that it was taken from.
    this.results.set(detachedCopy(text), detachedCopy(result));
    return result;
  }
}
