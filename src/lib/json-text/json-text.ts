/**
 * A JSON value as text, parsed at most once. Forwarding the text keeps what parsing would lose: numbers too large for a
 * double, `1.0`, escapes and duplicate keys. All functions of this file expect text that JSON.parse accepts.
 */
export class JsonText {
  #value: unknown;

  /** `value` is the parsed text, if the caller has it. */
  constructor(
    readonly text: string,
    value?: unknown,
  ) {
    this.#value = value;
  }

  static of(value: unknown): JsonText {
    return new JsonText(JSON.stringify(value));
  }

  /** The parsed text. All callers share it, so it must not be changed. */
  get value(): unknown {
    return (this.#value ??= JSON.parse(this.text));
  }

  toJSON(): unknown {
    return this.value;
  }
}

/** A text for many recipients, such as a page of a list, encoded at most once. */
export class SharedJson extends JsonText {
  private encoded: Buffer | undefined;

  get bytes(): Buffer {
    return (this.encoded ??= Buffer.from(this.text));
  }
}

/** The position of one member in the text. */
interface Member {
  readonly key: string;
  /** Start of the key. */
  readonly keyStart: number;
  /** Start and end of the value. */
  readonly start: number;
  readonly end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** The members of the object that begins at `at`, in the order of the text, duplicates included. */
export function membersOf(text: string, at = 0): Member[] {
  const members: Member[] = [];
  let i = skipOpening(text, at, OPEN_BRACE);
  while (text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, i);
    const key = keyOf(text, i, keyEnd);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    members.push({ key, keyStart: i, start, end });
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return members;
}

/** The positions of the elements of the array that begins at `at`, found lazily. */
export function* elementsOf(
  text: string,
  at = 0,
): Generator<{ readonly start: number; readonly end: number }, void> {
  let start = skipOpening(text, at, OPEN_BRACKET);
  while (text.charCodeAt(start) !== CLOSE_BRACKET) {
    const end = skipValue(text, start);
    yield { start, end };
    start = skipSpace(text, end);
    if (text.charCodeAt(start) === COMMA) start = skipSpace(text, start + 1);
  }
}

/** The text of a member's value. Of repeated keys the last one counts, as in JSON.parse. */
export function memberText(text: string, key: string): string | undefined {
  let value: string | undefined;
  let i = skipOpening(text, 0, OPEN_BRACE);
  while (text.charCodeAt(i) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, i);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    if (isKey(text, i, keyEnd, key)) value = text.slice(start, end);
    i = skipSpace(text, end);
    if (text.charCodeAt(i) === COMMA) i = skipSpace(text, i + 1);
  }
  return value;
}

/** The object's text with all values of `key` replaced, or the member appended if there is none. */
export function withMember(text: string, key: string, value: string): string {
  return hasMember(text, key) ? mapMember(text, key, () => value) : appendMember(text, key, value);
}

/** The object's text with `change` applied to all values of `key`. */
export function mapMember(
  text: string,
  key: string,
  change: (value: string) => string,
  members: readonly Member[] = membersOf(text),
): string {
  let result = '';
  let copied = 0;
  for (const member of members) {
    if (member.key !== key) continue;
    result += text.slice(copied, member.start) + change(text.slice(member.start, member.end));
    copied = member.end;
  }
  return copied === 0 ? text : result + text.slice(copied);
}

/** The object's text without these members; the others are unchanged. */
export function withoutMembers(text: string, keys: ReadonlySet<string>): string {
  const kept = membersOf(text).filter(({ key }) => !keys.has(key));
  return `{${kept.map(({ keyStart, end }) => text.slice(keyStart, end)).join(',')}}`;
}

/** A copy with its own memory. In V8 a slice keeps the whole text that it was taken from in memory. */
export const detachedCopy = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** Parts of shorter messages are not copied. */
const MIN_COPIED_LENGTH = 65_536;

/** Returns a part of a message in a form that does not keep much more than the part in memory. */
export function detachPart(message: string, part: string): string {
  const savesMemory = message.length >= MIN_COPIED_LENGTH && part.length * 2 < message.length;
  return savesMemory ? detachedCopy(part) : part;
}

/** The same JSON on one line, for line-based framing. Line breaks in JSON are always white space between tokens. */
export const onOneLine = (text: string): string =>
  text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text;

function hasMember(text: string, key: string): boolean {
  return membersOf(text).some((member) => member.key === key);
}

function appendMember(text: string, key: string, value: string): string {
  const close = text.lastIndexOf('}');
  const body = text.slice(0, close);
  const separator = body.trimEnd().endsWith('{') ? '' : ',';
  return `${body}${separator}${JSON.stringify(key)}:${value}${text.slice(close)}`;
}

/** The index of the first token after the opening bracket. Throws for a value of another type. */
function skipOpening(text: string, at: number, bracket: number): number {
  const open = skipSpace(text, at);
  if (text.charCodeAt(open) === bracket) return skipSpace(text, open + 1);
  throw new TypeError(`Expected ${String.fromCharCode(bracket)} at ${open} of the JSON text`);
}

function skipSpace(text: string, from: number): number {
  let i = from;
  for (;;) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i;
    i++;
  }
}

/** Whether the JSON string at these positions, quotes included, is the key. Escapes make it longer than the key. */
function isKey(text: string, from: number, end: number, key: string): boolean {
  const length = end - from - 2;
  if (length === key.length) return text.startsWith(key, from + 1);
  return length > key.length && keyOf(text, from, end) === key;
}

function keyOf(text: string, from: number, end: number): string {
  const key = text.slice(from + 1, end - 1);
  return key.includes('\\') ? (JSON.parse(text.slice(from, end)) as string) : key;
}

function skipString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

/** The index after the value at `from`. Counts brackets instead of recursing, so depth needs no stack. */
function skipValue(text: string, from: number): number {
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
