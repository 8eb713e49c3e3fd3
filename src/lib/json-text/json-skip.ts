/** Functions that find positions in a valid JSON text. */

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** After an escaped quote, `skipString` reads this number of characters one by one. */
const CHARACTERS_AFTER_ESCAPE = 64;

/** The index of the first token after the opening bracket. Throws if the value does not begin with this bracket. */
export function skipOpening(text: string, at: number, bracket: number): number {
  const open = skipSpace(text, at);
  if (text.charCodeAt(open) === bracket) return skipSpace(text, open + 1);
  throw new TypeError(`Expected ${String.fromCharCode(bracket)} at ${open} of the JSON text`);
}

/** The index of the first character at or after `from` that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

/** The index of the value after the colon of a key that ends at `keyEnd`. */
export const startOfValue = (text: string, keyEnd: number): number =>
  skipSpace(text, skipSpace(text, keyEnd) + 1);

/**
 * The index of the key or value after the comma that follows a value. If there is no comma, the index of the closing
 * bracket.
 */
export function skipComma(text: string, valueEnd: number): number {
  const next = skipSpace(text, valueEnd);
  return text.charCodeAt(next) === COMMA ? skipSpace(text, next + 1) : next;
}

/** Whether the JSON string at these positions, which include its quotes, is the key. */
export function isKey(text: string, from: number, end: number, key: string): boolean {
  const length = end - from - 2;
  if (length === key.length) return text.startsWith(key, from + 1);
  // A longer string is equal only if it has escapes.
  return length > key.length && keyOf(text, from, end) === key;
}

/** The value of the JSON string at these positions, which include its quotes. */
export function keyOf(text: string, from: number, end: number): string {
  const key = text.slice(from + 1, end - 1);
  return key.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : key;
}

/** The index after the string that begins at `from`. */
export function skipString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (!isEscaped(text, end)) return end + 1;
    // An escaped quote is often followed by other escaped quotes. Reading each character is then faster than searching
    // for each quote.
    at = end + 1;
    for (const last = at + CHARACTERS_AFTER_ESCAPE; at < last; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at + 1;
      if (code === BACKSLASH) at++;
    }
  }
}

/** Whether the character at this index is escaped: an odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

/**
 * The index after the value at `from`; -1 if the value is an array or object that does not end before `limit`. Counts
 * brackets instead of recursing, so that a deep value needs no stack.
 */
export function skipValue(text: string, from: number, limit = Infinity): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return skipScalar(text, from);
  let depth = 0;
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    at++;
    if (depth === 0) return at;
    if (at > limit) return -1;
  }
}

/** The index after the number or literal that begins at `from`. */
function skipScalar(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    const isEndOfText = Number.isNaN(code);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 0x20 || isEndOfText)
      return at;
    at++;
  }
}
