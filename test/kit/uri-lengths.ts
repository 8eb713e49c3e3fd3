/** For characters of each width, the longest accepted URI, and one that is a byte too long. */
export const URIS_AT_THE_LIMIT = (
  [
    ['characters of one byte', 'a'],
    ['characters of two bytes', 'é'],
    ['characters of three bytes', '語'],
    ['characters of four bytes', '🏠'],
  ] as const
).map(([what, letter]): [what: string, longest: string, tooLong: string] => {
  const room = 8192 - 'x:'.length;
  const bytes = Buffer.byteLength(letter);
  const longest = `x:${letter.repeat(Math.floor(room / bytes))}${'a'.repeat(room % bytes)}`;
  return [what, longest, `${longest}a`];
});
