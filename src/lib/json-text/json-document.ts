import { runAtOnce, type Steps } from '../slices/run-sliced.js';
import { JsonScanner, type JsonOutline } from './json-scanner.js';
import { OPEN_BRACE } from './json-skip.js';
import {
  elementsOf,
  JsonText,
  MAX_EAGER_LENGTH,
  indexedMember,
  memberText,
  memberValue,
  type ValueRange,
} from './json-text.js';
import type { JsonObject } from './json-value.js';
import { ScannedObject } from './scanned-object.js';

/** Maximum number of elements of an array that `elements` splits. */
export const MAX_ELEMENTS = 1000;
/** Maximum size of an array that `elements` splits. It is limited because long elements are scanned a second time. */
export const MAX_ARRAY_BYTES = 4 * 1024 * 1024;
/** A member that is longer than this and not an object is not parsed: it reads as null. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** Number of bytes that are scanned in one step, which takes about a millisecond. */
const SCAN_STEP_BYTES = 256 * 1024;
/** Limits for the second scan of an element. The limits of the reader were checked when the whole text was scanned. */
const RESCAN_LIMITS = { maxDepth: 1024, maxMembers: Infinity };

/**
 * A JSON text from outside that was found to be valid. A short text is parsed as a whole. A member of a long text is
 * decoded and parsed when it is first read.
 */
export abstract class JsonDocument {
  /**
   * The parsed text. Callers must not change it. The members of a long object are parsed when they are read. A very long
   * member reads as null unless it is an object.
   */
  abstract readonly value: unknown;
  abstract readonly kind: JsonOutline['kind'];
  abstract readonly text: string;

  /** The text of one member of an object. If the key is repeated, the last member counts, as in JSON.parse. */
  abstract memberText(key: string): string | undefined;

  /** The value of one member: a `ScannedObject` if the scan has recorded the positions of all its members. */
  abstract member(key: string): JsonText | undefined;

  /**
   * Like `member`. If the document is short and the value of the member is an object, the members of that object are found in
   * the same pass as the member.
   */
  indexedMember(key: string): JsonText | undefined {
    return this.member(key);
  }

  /** An upper bound of the length of the member's text, found without decoding that text. */
  abstract memberLength(key: string): number;

  /** Whether an object has this member. Does not parse the value of the member. */
  abstract hasMember(key: string): boolean;

  /** Runs `elementSteps` without yielding. For a long array, this takes about 5 ms for each megabyte. */
  elements(): readonly JsonDocument[] | undefined {
    return runAtOnce(this.elementSteps());
  }

  /**
   * The elements of an array; none if the text is not an array. Undefined when the array has more than `MAX_ELEMENTS` or
   * `MAX_ARRAY_BYTES`, or when an element has more members at its outermost level than the scanner records.
   */
  abstract elementSteps(): Steps<readonly JsonDocument[] | undefined>;

  /**
   * The document of a valid text. `value` is the parsed text, if the caller has it. `knownRange` is the position of a value
   * whose end the caller knows: `indexedMember` skips that value without scanning it.
   */
  static of(text: string, value: unknown = new JsonText(text).value, knownRange?: ValueRange): JsonDocument {
    return new TextDocument(text, value, knownRange);
  }

  /** The document of a long valid text, with the outline that a JsonScanner has found. */
  static scanned(bytes: Buffer, outline: JsonOutline): JsonDocument {
    return new ScannedDocument(bytes, outline);
  }
}

class TextDocument extends JsonDocument {
  constructor(
    readonly text: string,
    readonly value: unknown,
    private readonly knownRange?: ValueRange,
  ) {
    super();
  }

  get kind(): JsonOutline['kind'] {
    const { value } = this;
    if (typeof value !== 'object' || value === null) return 'scalar';
    return Array.isArray(value) ? 'array' : 'object';
  }

  memberText(key: string): string | undefined {
    return this.kind === 'object' ? memberText(this.text, key) : undefined;
  }

  memberLength(): number {
    return this.text.length;
  }

  member(key: string): JsonText | undefined {
    const text = this.memberText(key);
    return text === undefined ? undefined : new JsonText(text, (this.value as JsonObject)[key]);
  }

  override indexedMember(key: string): JsonText | undefined {
    if (this.text.length > MAX_EAGER_LENGTH) return this.member(key);
    return this.kind === 'object' ? indexedMember(this.text, key, this.knownRange) : undefined;
  }

  hasMember(key: string): boolean {
    return this.memberText(key) !== undefined;
  }

  // oxlint-disable-next-line require-yield -- the text is short
  *elementSteps(): Steps<readonly JsonDocument[] | undefined> {
    if (!Array.isArray(this.value)) return [];
    if (this.value.length > MAX_ELEMENTS) return undefined;
    return [...elementsOf(this.text)].map(({ start, end }) => JsonDocument.of(this.text.slice(start, end)));
  }
}

/** A long text: its bytes, and the positions of its outermost members. */
class ScannedDocument extends JsonDocument {
  readonly kind: JsonOutline['kind'];
  /** By key: the index of its colon in `outline.outer`. If a key is repeated, the last one counts. */
  private readonly colons = new Map<string, number>();
  private readonly memberCache = new Map<string, JsonText>();
  private cachedValue: unknown;

  constructor(
    private readonly bytes: Buffer,
    private readonly outline: JsonOutline,
  ) {
    super();
    this.kind = outline.kind;
    if (this.kind !== 'object') return;
    // The outer positions are those of `{`, then of the colon and the comma of each member. After the last member, `}`
    // takes the place of the comma.
    for (let colon = 1; colon < outline.outer.length - 1; colon += 2)
      this.colons.set(JSON.parse(this.between(colon - 1)) as string, colon);
  }

  get text(): string {
    return this.bytes.toString().trim();
  }

  get value(): unknown {
    this.cachedValue ??= this.kind === 'object' ? this.lazyMembers() : new JsonText(this.text).value;
    return this.cachedValue;
  }

  memberText(key: string): string | undefined {
    const colon = this.colons.get(key);
    return colon === undefined ? undefined : this.between(colon);
  }

  memberLength(key: string): number {
    const { outer } = this.outline;
    const colon = this.colons.get(key);
    return colon === undefined ? 0 : outer[colon + 1]! - outer[colon]!;
  }

  member(key: string): JsonText | undefined {
    const colon = this.colons.get(key);
    if (colon === undefined) return undefined;
    const member = this.memberCache.get(key) ?? this.objectAfter(colon) ?? new JsonText(this.between(colon));
    this.memberCache.set(key, member);
    return member;
  }

  hasMember(key: string): boolean {
    return this.colons.has(key);
  }

  *elementSteps(): Steps<readonly JsonDocument[] | undefined> {
    if (this.kind !== 'array') return [];
    const { outer } = this.outline;
    if (outer.length > MAX_ELEMENTS + 1 || this.bytes.length > MAX_ARRAY_BYTES) return undefined;
    if (outer.length === 2 && isSpace(this.bytes, outer[0]! + 1, outer[1]!)) return [];
    const elements: JsonDocument[] = [];
    // The outer positions are those of `[`, of each comma, and of `]`.
    for (let next = 1; next < outer.length; next++) {
      const element = yield* documentSteps(this.bytes.subarray(outer[next - 1]! + 1, outer[next]));
      if (!element) return undefined;
      elements.push(element);
    }
    return elements;
  }

  /** An object whose members are decoded and parsed when they are read. */
  private lazyMembers(): object {
    const members: object = {};
    for (const key of this.colons.keys())
      Object.defineProperty(members, key, { enumerable: true, get: () => this.parseMember(key) });
    return members;
  }

  /** A very long value that is not an object reads as null. Members that callers need, such as `id`, are never so long. */
  private parseMember(key: string): unknown {
    if (this.memberLength(key) > MAX_PARSED_BYTES && !this.isObjectMember(key)) return null;
    const json = this.member(key)!;
    return json.isIndexed ? json.value : memberValue(json.text);
  }

  private isObjectMember(key: string): boolean {
    const { bytes } = this;
    let at = this.outline.outer[this.colons.get(key)!]! + 1;
    while (bytes[at]! <= 0x20) at++;
    return bytes[at] === OPEN_BRACE;
  }

  /** The text between the outer position with this index and the next one: a key or a value. */
  private between(index: number): string {
    const { outer } = this.outline;
    return this.bytes.toString('utf8', outer[index]! + 1, outer[index + 1]).trim();
  }

  /** The object after a colon. Undefined when the value is not an object, or the outline does not have all its members. */
  private objectAfter(colon: number): JsonText | undefined {
    const { bytes } = this;
    const { outer, inner } = this.outline;
    const end = outer[colon + 1]!;
    const positions = inner.filter((at) => at > outer[colon]! && at < end);
    const last = positions.at(-1);
    if (last === undefined || bytes[positions[0]!] !== OPEN_BRACE || !isSpace(bytes, last + 1, end))
      return undefined;
    return new ScannedObject(bytes, positions);
  }
}

/** The document of valid bytes, which are scanned in steps. Undefined when the scanner did not record all members. */
function* documentSteps(bytes: Buffer): Steps<JsonDocument | undefined> {
  if (bytes.length <= MAX_EAGER_LENGTH) return JsonDocument.of(bytes.toString().trim());
  const scanner = new JsonScanner(RESCAN_LIMITS);
  for (let from = 0; from < bytes.length; from += SCAN_STEP_BYTES) {
    yield;
    scanner.push(bytes, from, Math.min(from + SCAN_STEP_BYTES, bytes.length));
  }
  const outline = scanner.end()!;
  return outline.isComplete ? JsonDocument.scanned(bytes, outline) : undefined;
}

/** Whether there is only white space between the two positions. */
function isSpace(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! > 0x20) return false;
  return true;
}
