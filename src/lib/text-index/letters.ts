/** What a character is to a word. Bits, so that what a run holds is one number. */
export const GAP = 0;
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
/** A word by itself: these scripts have no spaces between words. */
export const SIGN = 8;

const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u, SIGN],
  [/\p{Lu}/u, UPPER],
  [/\p{N}/u, DIGIT],
  [/[\p{L}\p{M}]/u, LOWER],
];
const KNOWN = 16;
/** What was looked up once, for all but the rarest scripts. */
const known = new Uint8Array(0x10000);

export function kindOf(codePoint: number): number {
  const kind = known[codePoint];
  if (kind) return kind - KNOWN;
  const found = lookUp(codePoint);
  if (kind === 0) known[codePoint] = found + KNOWN;
  return found;
}

function lookUp(codePoint: number): number {
  const character = String.fromCodePoint(codePoint);
  return KINDS.find(([pattern]) => pattern.test(character))?.[1] ?? GAP;
}
