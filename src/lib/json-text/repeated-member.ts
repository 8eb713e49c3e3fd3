import { CLOSE_BRACE, OPEN_BRACE, QUOTE, skipString } from './json-skip.js';
import type { ValueRange } from './json-text.js';
import { isJsonObject } from './json-value.js';
import { TextCache, type TextCacheLimits } from './text-cache.js';

/** A parsed text, and the position of its repeated member if that was found. */
export interface ParsedText {
  readonly value: unknown;
  readonly range: ValueRange | undefined;
}

/**
 * Parses objects of which one member of a member, for example `params._meta`, is usually the same object as before. That
 * object is not parsed again: all texts share its value, which must not be changed. The result is that of `JSON.parse`.
 *
 * The first occurrence of the key must be this member, without escapes and without white space. Other texts are parsed as a
 * whole.
 */
export class RepeatedMember {
  private readonly values: TextCache<unknown>;

  constructor(
    private readonly outerKey: string,
    private readonly key: string,
    private readonly limits: TextCacheLimits,
  ) {
    this.values = new TextCache((text): unknown => JSON.parse(text), limits);
  }

  /** The number of stored objects. */
  get size(): number {
    return this.values.size;
  }

  /** The value of the text. Throws if the text is not JSON. */
  parse(text: string): ParsedText {
    const start = this.startOfObject(text);
    if (start === -1) return { value: JSON.parse(text), range: undefined };
    const { latest } = this.values;
    const isLatest = latest !== undefined && text.slice(start, start + latest.text.length) === latest.text;
    const end = isLatest ? start + latest.text.length : endOfObject(text, start, this.limits.length);
    if (end === -1) return { value: JSON.parse(text), range: undefined };
    const range = { start, end };
    const stored = isLatest ? latest : this.values.find(text.slice(start, end));
    const value = stored && this.parseAround(text, range, stored.result);
    return { value: value ?? this.parseNew(text, range), range };
  }

  /** The index of the object after the first occurrence of the key; -1 if the first occurrence is not a key of an object. */
  private startOfObject(text: string): number {
    const at = text.indexOf(this.key);
    const keyEnd = at + this.key.length;
    return text.charCodeAt(at - 1) === QUOTE && text.startsWith('":{', keyEnd) ? keyEnd + 2 : -1;
  }

  /** The value of a text whose object at `range` is known. Undefined if that object may not be the member. */
  private parseAround(text: string, { start, end }: ValueRange, object: unknown): unknown {
    // The key must not occur again, also not with escapes, which may stand before it too.
    if (text.includes(this.key, end) || text.includes('\\u')) return undefined;
    // The object is the value of a key, so the text is JSON if and only if it is JSON with `null` in this place.
    const value: unknown = JSON.parse(`${text.slice(0, start)}null${text.slice(end)}`);
    const outer = this.outerIn(value);
    if (outer?.[this.key] !== null) return undefined;
    outer[this.key] = object;
    return value;
  }

  private parseNew(text: string, { start, end }: ValueRange): unknown {
    const value: unknown = JSON.parse(text);
    const isMember = isJsonObject(this.outerIn(value)?.[this.key]);
    if (isMember) this.values.get(text.slice(start, end));
    return value;
  }

  private outerIn(value: unknown): Record<string, unknown> | undefined {
    const outer = isJsonObject(value) ? value[this.outerKey] : undefined;
    return isJsonObject(outer) ? outer : undefined;
  }
}

/**
 * The index after the object that begins at `start`; -1 if the object is longer than `maxLength`. The text may be invalid: the
 * result has no meaning then.
 */
function endOfObject(text: string, start: number, maxLength: number): number {
  const limit = Math.min(start + maxLength, text.length);
  let depth = 0;
  for (let at = start; at < limit;) {
    const code = text.charCodeAt(at);
    // `skipString` returns 0 for a string without an end.
    const next = code === QUOTE ? skipString(text, at) : at + 1;
    if (next <= at) return -1;
    if (code === OPEN_BRACE) depth++;
    else if (code === CLOSE_BRACE) depth--;
    if (depth === 0) return next;
    at = next;
  }
  return -1;
}
