import type { JsonOutline } from './json-scanner.js';
import { OPEN_BRACE } from './json-skip.js';
import { elementsOf, JsonText, memberText, memberValue } from './json-text.js';
import { ScannedObject } from './scanned-object.js';

/** The longest array whose elements can be taken as documents. */
export const MAX_ELEMENTS = 1000;

/**
 * A JSON text from outside that was checked: it is valid and within its limits. A short text is parsed as a whole. Of a
 * long one, only what is read is decoded and parsed.
 */
export abstract class JsonDocument {
  /** The parsed text, not to be changed. Of a long text, members are parsed when read; long arrays read as null. */
  abstract readonly value: unknown;
  abstract readonly kind: JsonOutline['kind'];
  abstract readonly text: string;

  /** The text of one member of an object; of the last one if the key is repeated, as in JSON.parse. */
  abstract memberText(key: string): string | undefined;

  /** The same, with the positions of its own members where they are known. */
  abstract member(key: string): JsonText | undefined;

  /** An upper bound of the length of the member's text, without decoding it. */
  abstract memberLength(key: string): number;

  /** The elements of an array; undefined when it has more than `MAX_ELEMENTS`. */
  elements(): readonly JsonDocument[] | undefined {
    const texts = this.elementTexts(MAX_ELEMENTS);
    return texts.length > MAX_ELEMENTS ? undefined : texts.map((text) => JsonDocument.of(text));
  }

  protected abstract elementTexts(limit: number): readonly string[];

  /** Of a text that is known to be valid; `value` is the parsed text, if the caller has it. */
  static of(text: string, value: unknown = new JsonText(text).value): JsonDocument {
    return new TextDocument(text, value);
  }

  static scanned(bytes: Buffer, outline: JsonOutline): JsonDocument {
    return outline.isComplete
      ? new ScannedDocument(bytes, outline)
      : JsonDocument.of(bytes.toString().trim());
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

  protected elementTexts(limit: number): readonly string[] {
    const texts: string[] = [];
    if (this.kind !== 'array') return texts;
    for (const { start, end } of elementsOf(this.text))
      if (texts.push(this.text.slice(start, end)) > limit) break;
    return texts;
  }
}

/** A long text: its bytes, and the positions of its outermost members. */
class ScannedDocument extends JsonDocument {
  readonly kind: JsonOutline['kind'];
  /** By key: the index of its colon in the outline. The last of repeated keys counts. */
  private readonly colons = new Map<string, number>();
  private readonly read = new Map<string, JsonText>();
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
    const member = this.read.get(key) ?? this.indexed(colon) ?? new JsonText(this.between(colon));
    this.read.set(key, member);
    return member;
  }

  protected elementTexts(limit: number): readonly string[] {
    if (this.kind !== 'array') return [];
    const texts = this.outline.outer.slice(1, limit + 2).map((_, index) => this.between(index));
    return texts.length === 1 && texts[0] === '' ? [] : texts;
  }

  /** An object whose members are decoded and parsed when they are read. */
  private members(): object {
    const members: object = {};
    for (const key of this.colons.keys())
      Object.defineProperty(members, key, { enumerable: true, get: () => this.parseMember(key) });
    return members;
  }

  private parseMember(key: string): unknown {
    const json = this.member(key)!;
    return json.isIndexed ? json.value : memberValue(json.text);
  }

  /** The text between one position of the outline and the next. */
  private between(index: number): string {
    const { outer } = this.outline;
    return this.bytes.toString('utf8', outer[index]! + 1, outer[index + 1]).trim();
  }

  /** Undefined when the value is not an object, or the outline does not have all of its members. */
  private indexed(colon: number): JsonText | undefined {
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

function isSpace(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! > 0x20) return false;
  return true;
}
