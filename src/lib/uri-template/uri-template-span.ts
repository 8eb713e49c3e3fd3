/**
 * What may stand in the place of one expression. Both questions are answered in one pass over the text, whatever
 * the text is. A set of places has a byte for each, 1 where the place belongs to it.
 */
export interface Span {
  /** The places from which this can be read so that it ends at one of `ends`. */
  starts(subject: Subject, ends: Uint8Array): Uint8Array;
  /** The farthest of `ends` at which this can end when it begins at `start`, which is one of `starts`. */
  farthest(subject: Subject, start: number, ends: Uint8Array): number;
}

/** The characters that end a value. */
export class Stops {
  private readonly codes = new Uint8Array(0x10000);

  constructor(readonly characters: string) {
    for (const character of characters) this.codes[character.charCodeAt(0)] = 1;
  }

  has(code: number): boolean {
    return this.codes[code] === 1;
  }
}

/** The text that is matched: what stands between the first and the last literal of a template. */
export class Subject {
  private readonly found = new Map<string, readonly number[]>();
  private allCodes: Uint16Array | undefined;
  private allCounts: Uint32Array | undefined;

  constructor(readonly text: string) {}

  /** The code of every character, and a zero after the last one. */
  get codes(): Uint16Array {
    return (this.allCodes ??= codesOf(this.text));
  }

  /** How many characters stand before each place. */
  get counts(): Uint32Array {
    return (this.allCounts ??= countCharacters(this.text));
  }

  /** Where one of these characters stands, from the first place to the last. */
  placesOf(characters: string): readonly number[] {
    let places = this.found.get(characters);
    if (places === undefined) {
      const each = characters.split('').flatMap((character) => placesOf(this.text, character));
      places = each.toSorted((a, b) => a - b);
      this.found.set(characters, places);
    }
    return places;
  }
}

export function codesOf(text: string): Uint16Array {
  const codes = new Uint16Array(text.length + 1);
  for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
  return codes;
}

function placesOf(text: string, character: string): number[] {
  const places = [];
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) places.push(at);
  return places;
}

const PERCENT = 0x25;

/**
 * RFC 6570 counts the characters of a value before it was encoded: `%C3%B6` is one. The second and further bytes
 * of a character are 80 to BF.
 */
function countCharacters(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  let count = 0;
  let inside = 0;
  for (let at = 0; at < text.length; at++) {
    counts[at] = count;
    if (inside > 0) inside--;
    else if (text.charCodeAt(at) === PERCENT && /^[0-9A-Fa-f]{2}/.test(text.slice(at + 1, at + 3))) {
      inside = 2;
      if (!/^[89ABab]/.test(text.charAt(at + 1))) count++;
    } else if (!isSecondHalf(text, at)) count++;
  }
  counts[text.length] = count;
  return counts;
}

const isSecondHalf = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** Where the longest value ends that begins at `from`. */
export function valueEnd(subject: Subject, from: number, stops: Stops, most: number): number {
  const { codes } = subject;
  const length = codes.length - 1;
  const counts = most === Infinity ? undefined : subject.counts;
  let end = from;
  while (end < length && !stops.has(codes[end]!) && fits(counts, from, end + 1, most)) end++;
  return end;
}

/** Whether a value from `from` to `to` has at most so many characters; without counts, any has. */
export const fits = (counts: Uint32Array | undefined, from: number, to: number, most: number): boolean =>
  counts === undefined || counts[to]! - counts[from]! <= most;

/** The last of `ends` from `from` to `to`, both included; -1 when there is none. */
export function lastEnd(ends: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at >= from && ends[at] !== 1) at--;
  return at >= from ? at : -1;
}
