/** Positions in a JSON text that is known to be valid. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** The index of the first token after the opening bracket. Throws for a value of another type. */
export function skipOpening(text: string, at: number, bracket: number): number {
  const open = skipSpace(text, at);
  if (text.charCodeAt(open) === bracket) return skipSpace(text, open + 1);
  throw new TypeError(`Expected ${String.fromCharCode(bracket)} at ${open} of the JSON text`);
}

export function skipSpace(text: string, from: number): number {
  let i = from;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i;
    i++;
  }
}

/** Whether the JSON string at these positions, quotes included, is the key. A string with escapes is longer than the key. */
export function isKey(text: string, from: number, end: number, key: string): boolean {
  const length = end - from - 2;
  if (length === key.length) return text.startsWith(key, from + 1);
  return length > key.length && keyOf(text, from, end) === key;
}

export function keyOf(text: string, from: number, end: number): string {
  const key = text.slice(from + 1, end - 1);
  return key.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : key;
}

export function skipString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (!isEscaped(text, end)) return end + 1;
    // Where one quote is escaped, others often are: then reading each character is faster.
    at = end + 1;
    for (const last = at + 64; at < last; at++) {
      const c = text.charCodeAt(at);
      if (c === QUOTE) return at + 1;
      if (c === BACKSLASH) at++;
    }
  }
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/**
 * The index after the value at `from`; -1 if an array or object does not end before `limit`. Counts brackets instead of
 * recursing, so depth needs no stack.
 */
export function skipValue(text: string, from: number, limit = Infinity): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, from);
  let depth = 0;
  let i = from;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = skipString(text, i);
      continue;
    }
    if (c === OPEN_BRACE || c === OPEN_BRACKET) depth++;
    else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) depth--;
    i++;
    if (depth === 0) return i;
    if (i > limit) return -1;
  }
}

function skipScalar(text: string, from: number): number {
  let i = from;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c === COMMA || c === CLOSE_BRACE || c === CLOSE_BRACKET || c <= 0x20 || Number.isNaN(c)) return i;
    i++;
  }
}
