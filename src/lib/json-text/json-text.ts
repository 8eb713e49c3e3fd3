import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  isKey,
  keyOf,
  OPEN_BRACE,
  OPEN_BRACKET,
  skipComma,
  skipOpening,
  skipString,
  skipValue,
  startOfValue,
} from './json-skip.js';
import { lazyObject } from './lazy-object.js';

/** Texts up to this length are parsed as a whole, which takes two milliseconds at most. */
export const MAX_EAGER_LENGTH = 32 * 1024;

/** How an escaped ASCII letter begins. */
const ESCAPED_ASCII = '\\u00';

/**
 * A JSON value as text, which is parsed at most once. The gateway forwards the text, because a parsed and serialized value
 * would lose numbers too large for a double, `1.0`, escapes and duplicate keys. All functions of this file expect text that
 * JSON.parse accepts.
 */
export class JsonText {
  #value: unknown;
  #members: readonly Member[] | undefined;
  #hasEscapedAscii: boolean | undefined;

  /** A caller that has the parsed text or its members passes them as `value` and `members`. */
  constructor(
    readonly text: string,
    value?: unknown,
    members?: readonly Member[],
  ) {
    this.#value = value;
    this.#members = members;
  }

  static of(value: unknown): JsonText {
    return new JsonText(JSON.stringify(value));
  }

  /**
   * The parsed text. All callers share it, so it must not be changed. A member of a long object is parsed when it is first
   * read, because parsing the whole object can take a second. A long array in such an object is not parsed: its value is
   * null, and callers that need its elements read them from `memberText`.
   */
  get value(): unknown {
    this.#value ??= this.isLongObject ? this.lazyValue() : JSON.parse(this.text);
    return this.#value;
  }

  /** Whether `value` is an object that is known without parsing. */
  get isParsed(): boolean {
    const value = this.#value;
    return typeof value === 'object' && value !== null && this.storedLength <= MAX_EAGER_LENGTH;
  }

  /** The members of an object. */
  get members(): readonly Member[] {
    this.#members ??= membersOf(this.text);
    return this.#members;
  }

  /** Whether the members are known without reading the text again. */
  get isIndexed(): boolean {
    return this.#members !== undefined;
  }

  /** The text of a member's value. If the key is repeated, the last one counts, as in JSON.parse. */
  memberText(key: string): string | undefined {
    if (!this.isLongObject) return this.text.startsWith('{') ? memberText(this.text, key) : undefined;
    const member = this.members.findLast((each) => each.key === key);
    return member && this.text.slice(member.start, member.end);
  }

  /** The first character of a member's value. */
  firstCharacterOf(key: string): string | undefined {
    return this.memberText(key)?.[0];
  }

  /** The object with `before` and `after` around the value of a member. */
  wrapMember(key: string, before: string, after: string): JsonText {
    return new JsonText(mapMember(this.text, key, (value) => before + value + after, this.members));
  }

  /** The object without these members. */
  without(keys: ReadonlySet<string>): JsonText {
    return new JsonText(withoutMembers(this.text, keys));
  }

  /** Number of characters of the text. For a `ScannedObject`, which is kept as bytes, the number of bytes. */
  get storedLength(): number {
    return this.text.length;
  }

  get isObject(): boolean {
    return this.text.startsWith('{');
  }

  /**
   * A fast check whether the object has a member with this key, which must consist of ASCII letters. The result is exact for
   * a parsed text. Any other text is searched for the key and for escaped ASCII characters: the result may be wrongly true,
   * and is never wrongly false.
   */
  mayHaveMember(key: string): boolean {
    if (this.isParsed) return Object.hasOwn(this.#value as object, key);
    this.#hasEscapedAscii ??= this.text.includes(ESCAPED_ASCII);
    if (this.#hasEscapedAscii) return true;
    // Searched without quotes first: most texts do not contain the key, and then the quoted key need not be built.
    const at = this.text.indexOf(key);
    return at !== -1 && this.text.includes(`"${key}"`, at - 1);
  }

  toJSON(): unknown {
    return this.value;
  }

  /** Whether the object is so long that work on its whole text would block the event loop. */
  get isLongObject(): boolean {
    return this.text.length > MAX_EAGER_LENGTH && this.isObject;
  }

  private lazyValue(): object {
    const parse = (key: string): unknown => {
      const text = this.memberText(key);
      return text === undefined ? undefined : memberValue(text);
    };
    return lazyObject(parse, () => this.members.map(({ key }) => key));
  }
}

/** A text that is also kept as bytes, because it is long or has many recipients, for example the page of a list. */
export class SharedJson extends JsonText {
  private encoded: Buffer | undefined;

  constructor(text: string, members?: readonly Member[], bytes?: Buffer) {
    super(text, undefined, members);
    this.encoded = bytes;
  }

  /** The bytes of the text, which is encoded at most once. */
  get bytes(): Buffer {
    this.encoded ??= Buffer.from(this.text);
    return this.encoded;
  }
}

/** The position of a value in a text. */
export interface ValueRange {
  readonly start: number;
  readonly end: number;
}

/** The position of one member in the text. */
export interface Member extends ValueRange {
  readonly key: string;
  /** Start of the key. */
  readonly keyStart: number;
}

/** The members of the object that begins at `at`, in the order of the text, duplicates included. */
export function membersOf(text: string, at = 0): Member[] {
  const members: Member[] = [];
  collectMembers(text, at, 0, members);
  return members;
}

/**
 * Appends the members of the object that begins at `at`, with positions relative to `origin`. Returns the index after the
 * object. A value at `known` is not scanned.
 */
function collectMembers(
  text: string,
  at: number,
  origin: number,
  members: Member[],
  known?: ValueRange,
): number {
  let keyStart = skipOpening(text, at, OPEN_BRACE);
  while (text.charCodeAt(keyStart) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, keyStart);
    const key = keyOf(text, keyStart, keyEnd);
    const start = startOfValue(text, keyEnd);
    const end = start === known?.start ? known.end : skipValue(text, start);
    members.push({ key, keyStart: keyStart - origin, start: start - origin, end: end - origin });
    keyStart = skipComma(text, end);
  }
  return keyStart + 1;
}

/**
 * The value of a member. If it is an object, the value knows its own members, which are found in the same pass. A value at
 * `known` is not scanned.
 */
export function indexedMember(text: string, key: string, known?: ValueRange): JsonText | undefined {
  let value: JsonText | undefined;
  let keyStart = skipOpening(text, 0, OPEN_BRACE);
  while (text.charCodeAt(keyStart) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, keyStart);
    const start = startOfValue(text, keyEnd);
    let end: number;
    if (!isKey(text, keyStart, keyEnd, key)) end = skipValue(text, start);
    else if (text.charCodeAt(start) === OPEN_BRACE) {
      const members: Member[] = [];
      end = collectMembers(text, start, start, members, known);
      value = new JsonText(text.slice(start, end), undefined, members);
    } else {
      end = skipValue(text, start);
      value = new JsonText(text.slice(start, end));
    }
    keyStart = skipComma(text, end);
  }
  return value;
}

/** The positions of the elements of the array that begins at `at`. Each element is found when the caller asks for it. */
export function* elementsOf(
  text: string,
  at = 0,
): Generator<{ readonly start: number; readonly end: number }, void> {
  let start = skipOpening(text, at, OPEN_BRACKET);
  while (text.charCodeAt(start) !== CLOSE_BRACKET) {
    const end = skipValue(text, start);
    yield { start, end };
    start = skipComma(text, end);
  }
}

/** The text of a member's value. If the key is repeated, the last one counts, as in JSON.parse. */
export function memberText(text: string, key: string): string | undefined {
  let value: string | undefined;
  let keyStart = skipOpening(text, 0, OPEN_BRACE);
  while (text.charCodeAt(keyStart) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, keyStart);
    const start = startOfValue(text, keyEnd);
    const end = skipValue(text, start);
    if (isKey(text, keyStart, keyEnd, key)) value = text.slice(start, end);
    keyStart = skipComma(text, end);
  }
  return value;
}

/** The object's text with all values of `key` replaced. Appends the member if there is none with this key. */
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
  let copiedTo = 0;
  for (const member of members) {
    if (member.key !== key) continue;
    result += text.slice(copiedTo, member.start) + change(text.slice(member.start, member.end));
    copiedTo = member.end;
  }
  return copiedTo === 0 ? text : result + text.slice(copiedTo);
}

/** The object's text without these members. The texts of the other members are unchanged. */
export function withoutMembers(text: string, keys: ReadonlySet<string>): string {
  const remaining = membersOf(text).filter(({ key }) => !keys.has(key));
  return `{${remaining.map(({ keyStart, end }) => text.slice(keyStart, end)).join(',')}}`;
}

/** A copy with its own memory. In V8, a slice keeps the whole text from which it was taken in memory. */
export const detachedCopy = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** The same JSON on one line, for line-based framing. A line break in JSON is always white space between tokens. */
export const onOneLine = (text: string): string =>
  text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text;

function hasMember(text: string, key: string): boolean {
  return membersOf(text).some((member) => member.key === key);
}

/** The object's text with one more member at its end. */
export function appendMember(text: string, key: string, value: string): string {
  const close = text.lastIndexOf('}');
  const body = text.slice(0, close);
  const separator = body.trimEnd().endsWith('{') ? '' : ',';
  return `${body}${separator}${JSON.stringify(key)}:${value}${text.slice(close)}`;
}

/** Parses the text of one member's value in a long object. Null for a long array, see `JsonText.value`. */
export const memberValue = (valueText: string): unknown =>
  valueText.length > MAX_EAGER_LENGTH && valueText.startsWith('[') ? null : new JsonText(valueText).value;
