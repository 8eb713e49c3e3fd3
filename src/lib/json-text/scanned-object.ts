import { runAtOnce, type Steps } from '../slices/run-sliced.js';
import { EDITS_PER_STEP, movedPositions, type JsonEdit } from './json-edits.js';
import { MAX_EAGER_LENGTH, SharedJson, type JsonText, type Member } from './json-text.js';

/** Number of bytes that are decoded, or of characters that are encoded, in one step. A step takes a few milliseconds. */
const STEP_LENGTH = 1_048_576;
const SPACE = 0x20;
const [OPEN, COMMA, CLOSE] = ['{', ',', '}'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * An object as bytes, with the positions of `{`, then of the colon and the comma of each member. After the last member, `}`
 * takes the place of the comma. The bytes are decoded only when the text is read, because a result of many megabytes is
 * usually forwarded unchanged.
 */
export class ScannedObject extends SharedJson {
  /** By key: the index of its colon in `positions`. If a key is repeated, the last one counts. */
  private readonly colons = new Map<string, number>();
  private decoded: { readonly text: string; readonly members: readonly Member[] } | undefined;
  private latin1Text: string | undefined;

  constructor(
    /** The bytes that contain the object. `positions` are indexes of these bytes. */
    private readonly source: Buffer,
    private readonly positions: readonly number[],
  ) {
    super('', undefined, source.subarray(positions[0], positions.at(-1)! + 1));
    // Replaces the field `text` of `JsonText` by a getter, so that the bytes are not decoded before the text is read.
    Object.defineProperty(this, 'text', { get: () => this.decodeAll().text });
    for (let colon = 1; colon < positions.length - 1; colon += 2)
      this.colons.set(JSON.parse(this.between(colon - 1)) as string, colon);
  }

  override get members(): readonly Member[] {
    return this.decodeAll().members;
  }

  override get isIndexed(): boolean {
    return true;
  }

  override get storedLength(): number {
    return this.bytes.length;
  }

  override get isObject(): boolean {
    return true;
  }

  override get isLongObject(): boolean {
    return this.bytes.length > MAX_EAGER_LENGTH;
  }

  override mayHaveMember(key: string): boolean {
    return this.colons.has(key);
  }

  /** Whether the bytes contain this ASCII text. The search runs in steps: it can take 2 ms for each megabyte. */
  *includesSteps(ascii: string): Steps<boolean> {
    for (let from = 0; from < this.bytes.length; from += STEP_LENGTH) {
      if (from > 0) yield;
      // The pieces overlap, so that the characters are also found on the border of two pieces.
      if (this.bytes.subarray(from, from + STEP_LENGTH + ascii.length).includes(ascii, 0, 'latin1'))
        return true;
    }
    return false;
  }

  override memberText(key: string): string | undefined {
    const colon = this.colons.get(key);
    return colon === undefined ? undefined : this.between(colon);
  }

  /** The number of bytes of a member's value and the white space around it. 0 if there is no such member. */
  bytesOf(key: string): number {
    const colon = this.colons.get(key);
    return colon === undefined ? 0 : this.positions[colon + 1]! - this.positions[colon]! - 1;
  }

  override firstCharacterOf(key: string): string | undefined {
    const colon = this.colons.get(key);
    if (colon === undefined) return undefined;
    return String.fromCharCode(this.source[skipSpace(this.source, this.positions[colon]! + 1)]!);
  }

  /**
   * A string with one character for each byte. Brackets, keys in ASCII and other parts of the structure can be found in it
   * without decoding. Text that may contain other characters than ASCII has to be read with `decode`.
   */
  get byteText(): string {
    this.latin1Text ??= this.bytes.toString('latin1');
    return this.latin1Text;
  }

  /** Decodes the bytes from one position of `byteText` to another. */
  decode(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  /** The members with their positions in `byteText`. */
  get byteMembers(): readonly Member[] {
    const { positions } = this;
    const offset = positions[0]!;
    const members: Member[] = [];
    for (let colon = 1; colon < positions.length - 1; colon += 2) {
      const [before, start, end] = [positions[colon - 1]!, positions[colon]!, positions[colon + 1]!];
      members.push({
        key: JSON.parse(this.between(colon - 1)) as string,
        keyStart: skipSpace(this.source, before + 1) - offset,
        start: skipSpace(this.source, start + 1) - offset,
        end: skipSpaceBefore(this.source, end) - offset,
      });
    }
    return members;
  }

  /** Copies the bytes without decoding them. If the key is repeated, only the last value is wrapped, because it counts. */
  override wrapMember(key: string, before: string, after: string): JsonText {
    const colon = this.colons.get(key);
    if (colon === undefined) return this;
    const offset = this.positions[0]!;
    const [start, end] = [this.positions[colon]! + 1 - offset, this.positions[colon + 1]! - offset];
    const edits = [
      { start, end: start, text: before },
      { start: end, end, text: after },
    ];
    return runAtOnce(this.edited(edits));
  }

  /** The object after edits of `byteText`. Copies the bytes in steps without decoding them. */
  *edited(edits: readonly JsonEdit[]): Steps<ScannedObject> {
    const offset = this.positions[0]!;
    const relative = this.positions.map((position) => position - offset);
    const positions = yield* movedPositions(
      relative,
      edits,
      ({ start, end, text }) => Buffer.byteLength(text) - (end - start),
    );
    const target = Buffer.allocUnsafe(positions.at(-1)! + 1);
    let copiedTo = 0;
    let targetEnd = 0;
    for (const [index, { start, end, text }] of edits.entries()) {
      targetEnd = yield* copySteps(this.bytes, copiedTo, start, target, targetEnd);
      targetEnd += target.write(text, targetEnd);
      copiedTo = end;
      if (index % EDITS_PER_STEP === EDITS_PER_STEP - 1) yield;
    }
    yield* copySteps(this.bytes, copiedTo, this.bytes.length, target, targetEnd);
    return new ScannedObject(target, positions);
  }

  /** Copies the bytes of the members whose keys are not among `keys`. */
  override without(keys: ReadonlySet<string>): ScannedObject {
    const parts: Buffer[] = [];
    const positions: number[] = [];
    let length = 0;
    for (let colon = 1; colon < this.positions.length - 1; colon += 2) {
      if (keys.has(JSON.parse(this.between(colon - 1)) as string)) continue;
      const start = this.positions[colon - 1]! + 1;
      const end = this.positions[colon + 1]!;
      parts.push(parts.length === 0 ? OPEN : COMMA, this.source.subarray(start, end));
      positions.push(length, length + 1 + this.positions[colon]! - start);
      length += 1 + end - start;
    }
    if (parts.length === 0) return new ScannedObject(Buffer.from('{}'), [0, 1]);
    return new ScannedObject(Buffer.concat([...parts, CLOSE]), [...positions, length]);
  }

  /**
   * Decodes the text in steps. Each part between two positions is decoded separately, because `membersIn` finds the members
   * by the lengths of these parts.
   */
  *decodeSteps(): Steps {
    const parts: string[] = [];
    for (const [index, from] of this.positions.entries()) {
      const to = this.positions[index + 1] ?? from + 1;
      const pieces: string[] = [];
      for (let at = from, next = 0; at < to; at = next) {
        if (at > from) yield;
        next = this.characterStart(Math.min(at + STEP_LENGTH, to), to);
        pieces.push(this.source.toString('utf8', at, next));
      }
      parts.push(pieces.join(''));
    }
    this.decoded ??= { text: parts.join(''), members: membersIn(parts) };
  }

  private decodeAll(): { readonly text: string; readonly members: readonly Member[] } {
    if (!this.decoded) runAtOnce(this.decodeSteps());
    return this.decoded!;
  }

  /** The start of the character that contains the byte at `at`; `end` if `at` is `end`. */
  private characterStart(at: number, end: number): number {
    if (at === end) return end;
    let start = at;
    // In UTF-8, the second and further bytes of a character are 10xxxxxx in binary, and there are at most three of them.
    while (start > at - 4 && (this.source[start]! & 0xc0) === 0x80) start--;
    return start;
  }

  /** The text between the position with this index and the next one: a key or a value. */
  private between(index: number): string {
    return this.source.toString('utf8', this.positions[index]! + 1, this.positions[index + 1]).trim();
  }
}

/** Copies bytes to the position `at` of the target in steps. Returns the position in the target after the copied bytes. */
function* copySteps(source: Buffer, from: number, to: number, target: Buffer, at: number): Steps<number> {
  for (let next = from; next < to; next += STEP_LENGTH) {
    if (next > from) yield;
    source.copy(target, at + next - from, next, Math.min(next + STEP_LENGTH, to));
  }
  return at + to - from;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at]! <= SPACE) at++;
  return at;
}

/** The position after the last byte before `end` that is no space. */
function skipSpaceBefore(bytes: Buffer, end: number): number {
  let at = end;
  while (bytes[at - 1]! <= SPACE) at--;
  return at;
}

/** The bytes of a long text, encoded in steps. */
export function* encodeSteps(text: string): Steps<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = 0, next = 0; at < text.length; at = next) {
    if (at > 0) yield;
    next = Math.min(at + STEP_LENGTH, text.length);
    // The step ends after a surrogate pair, not inside it.
    if (isHighSurrogate(text.charCodeAt(next - 1)) && next < text.length) next++;
    pieces.push(Buffer.from(text.slice(at, next)));
  }
  return Buffer.concat(pieces);
}

/** The same JSON on one line: see `onOneLine`. Returns `bytes` themselves if they contain no line break. */
export function* oneLineSteps(bytes: Buffer): Steps<Buffer> {
  if (!bytes.includes(LINE_FEED) && !bytes.includes(CARRIAGE_RETURN)) return bytes;
  const copy = Buffer.allocUnsafe(bytes.length);
  for (let from = 0; from < bytes.length; from += STEP_LENGTH) {
    if (from > 0) yield;
    const to = Math.min(from + STEP_LENGTH, bytes.length);
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      copy[at] = byte === LINE_FEED || byte === CARRIAGE_RETURN ? SPACE : byte;
    }
  }
  return copy;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/**
 * The members of an object. `parts` is the text of the object, divided at the positions of a `ScannedObject`. Each member has
 * two parts: the first begins with `{` or a comma and contains the key, the second begins with a colon and contains the
 * value. The last part is `}`.
 */
function membersIn(parts: readonly string[]): readonly Member[] {
  const members: Member[] = [];
  let offset = 0;
  for (let index = 0; index + 2 < parts.length; index += 2) {
    const [keyPart, valuePart] = [parts[index]!, parts[index + 1]!];
    const keyStart = offset + leadLength(keyPart);
    const start = offset + keyPart.length + leadLength(valuePart);
    const end = offset + keyPart.length + valuePart.trimEnd().length;
    members.push({ key: JSON.parse(keyPart.slice(1)) as string, keyStart, start, end });
    offset += keyPart.length + valuePart.length;
  }
  return members;
}

/** The length of the first character together with the white space after it. */
const leadLength = (part: string): number => part.length - part.slice(1).trimStart().length;
