import { detachedCopy } from './json-text.js';

export interface TextCacheLimits {
  /** Maximum number of stored texts. */
  readonly texts: number;
  /** Maximum length of a stored text in characters. */
  readonly length: number;
  /** Whether to store a text. Called when the text is not stored yet. Without it, all short texts are stored. */
  readonly stores?: (text: string) => boolean;
}

export interface CachedResult<T> {
  readonly text: string;
  readonly result: T;
}

/** Caches the results of a function of texts. Only the results of short texts are stored. A full cache is cleared. */
export class TextCache<T = string> {
  private readonly results = new Map<string, CachedResult<T>>();
  private latestResult: CachedResult<T> | undefined;

  constructor(
    private readonly compute: (text: string) => T,
    private readonly limits: TextCacheLimits,
  ) {}

  get size(): number {
    return this.results.size;
  }

  /** The result that was found last. Comparing its text is faster than computing the hash of a text. */
  get latest(): CachedResult<T> | undefined {
    return this.latestResult;
  }

  get(text: string): T {
    const found = this.find(text);
    return found ? found.result : this.computeNew(text);
  }

  /** The stored result of the text. */
  find(text: string): CachedResult<T> | undefined {
    if (this.latestResult?.text === text) return this.latestResult;
    if (text.length > this.limits.length) return undefined;
    const found = this.results.get(text);
    if (found) this.latestResult = found;
    return found;
  }

  private computeNew(text: string): T {
    const { length, texts, stores } = this.limits;
    if (text.length > length || stores?.(text) === false) return this.compute(text);
    if (this.results.size >= texts) this.results.clear();
    // A slice of a message would keep the whole message in memory, so the text and its result are made of a copy.
    const copy = detachedCopy(text);
    const result = this.compute(copy);
    this.latestResult = { text: copy, result };
    this.results.set(copy, this.latestResult);
    return result;
  }
}
