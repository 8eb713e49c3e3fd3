import { runAtOnce, type Steps } from '../slices/run-sliced.js';
import { JsonScanner, type JsonOutline } from './json-scanner.js';
import { OPEN_BRACE } from './json-skip.js';
import { elementsOf, JsonText, MAX_EAGER_LENGTH, memberText, memberValue } from './json-text.js';
import { ScannedObject } from './scanned-object.js';

/** Maximum number of elements of an array that `elements` splits. */
export const MAX_ELEMENTS = 1000;
/** Maximum size of an array that `elements` splits. It scans long elements again: some 40 ms for this size. */
export const MAX_ARRAY_BYTES = 4 * 1024 * 1024;
/** Maximum size of a member that is parsed although it is no object. Parsing takes a few milliseconds for this size. */
const MAX_SCALAR_BYTES = 1024 * 1024;
/** Bytes that are scanned in one step, which takes about a millisecond. */
const SCAN_STEP = 256 * 1024;
/** Limits for the second scan of an element. The real limits were checked in the scan of the whole text. */
const RESCAN_LIMITS = { maxDepth: 1024, maxMembers: Infinity };

/**
 * A JSON text from outside that was checked: it is valid and within its limits. A short text is parsed as a whole. Of a
 * long one, only what is read is decoded and parsed.
 */
export abstract class JsonDocument {
  /**
   * The parsed text, not to be changed. Members of a long text are parsed when they are read; a long array reads as
   * null.
   */
  abstract readonly value: unknown;
  abstract readonly kind: JsonOutline['kind'];
  abstract readonly text: string;

  /** The text of one member of an object; of the last one if the key is repeated, as in JSON.parse. */
  abstract memberText(key: string): string | undefined;

  /** Like `memberText`, but with the positions of the members inside the value, where they are known. */
  abstract member(key: string): JsonText | undefined;

  /** An upper bound of the length of the member's text, found without decoding that text. */
  abstract memberLength(key: string): number;

  /** Whether an object has this member. Its value is not read. */
  abstract hasMember(key: string): boolean;

  /** `elementSteps` at once. For a long array, this takes some 5 ms for each megabyte. */
  elements(): readonly JsonDocument[] | undefined {
    return runAtOnce(this.elementSteps());
  }

  /** The elements of an array; undefined when there are more than `MAX_ELEMENTS`, or more than `MAX_ARRAY_BYTES`. */
  abstract elementSteps(): Steps<readonly JsonDocument[] | undefined>;

  /** The document of a text that is known to be valid. `value` is the parsed text, if the caller has it. */
  static of(text: string, value: unknown = new JsonText(text).value): JsonDocument {
    return new TextDocument(text, value);
  }

  static scanned(bytes: Buffer, outline: JsonOutline): JsonDocument {
    return new ScannedDocument(bytes, outline);
  }
}

class TextDocument extends JsonDocument {
  constructor(
    readonly text: string,
    readonly value: unknown,
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
    return text === undefined ? undefined : new JsonText(text);
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
  /** By key: the index of its colon in the outline. The last of repeated keys counts. */
  private readonly colons = new Map<string, number>();
  private readonly readMembers = new Map<string, JsonText>();
  private parsed: unknown;

  constructor(
    private readonly bytes: Buffer,
    private readonly outline: JsonOutline,
  ) {
    super();
    this.kind = outline.kind;
    if (this.kind !== 'object') return;
    // The positions are those of `{`, then of a colon and a comma for each member, with `}` instead of the last comma.
    for (let colon = 1; colon < outline.outer.length - 1; colon += 2)
      this.colons.set(JSON.parse(this.between(colon - 1)) as string, colon);
  }

  get text(): string {
    return this.bytes.toString().trim();
  }

  get value(): unknown {
    return (this.parsed ??= this.kind === 'object' ? this.members() : new JsonText(this.text).value);
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
    const member = this.readMembers.get(key) ?? this.objectAfter(colon) ?? new JsonText(this.between(colon));
    this.readMembers.set(key, member);
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
    for (const [index, end] of outer.slice(1).entries())
      elements.push(yield* documentSteps(this.bytes.subarray(outer[index]! + 1, end)));
    return elements;
  }

  /** An object whose members are decoded and parsed when they are read. */
  private members(): object {
    const members: object = {};
    for (const key of this.colons.keys())
      Object.defineProperty(members, key, { enumerable: true, get: () => this.parseMember(key) });
    return members;
  }

  /** A very long value that is no object reads as null: it is none of the members that say what the text is. */
  private parseMember(key: string): unknown {
    if (this.memberLength(key) > MAX_SCALAR_BYTES && !this.isObjectMember(key)) return null;
    const json = this.member(key)!;
    return json.isIndexed ? json.value : memberValue(json.text);
  }

  private isObjectMember(key: string): boolean {
    const { bytes } = this;
    let at = this.outline.outer[this.colons.get(key)!]! + 1;
    while (bytes[at]! <= 0x20) at++;
    return bytes[at] === OPEN_BRACE;
  }

  /** The text between one position of the outline and the next. */
  private between(index: number): string {
    const { outer } = this.outline;
    return this.bytes.toString('utf8', outer[index]! + 1, outer[index + 1]).trim();
  }

  /** The value after a colon. Undefined when it is not an object, or the outline does not have all of its members. */
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

/** The document of bytes that are known to be valid. */
function* documentSteps(bytes: Buffer): Steps<JsonDocument> {
  if (bytes.length <= MAX_EAGER_LENGTH) return JsonDocument.of(bytes.toString().trim());
  const scanner = new JsonScanner(RESCAN_LIMITS);
  for (let from = 0; from < bytes.length; from += SCAN_STEP) {
    yield;
    scanner.push(bytes, from, Math.min(from + SCAN_STEP, bytes.length));
  }
  return JsonDocument.scanned(bytes, scanner.end()!);
}

function isSpace(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! > 0x20) return false;
  return true;
}
