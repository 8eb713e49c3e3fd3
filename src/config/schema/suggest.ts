/** Message for an unknown key. `where`, such as ` in http`, names the section if the path of the problem does not. */
export function unknownKey(name: string, knownKeys: readonly string[], where = ''): string {
  const suggestion = suggest(name, knownKeys);
  const help =
    suggestion === undefined ? `; known are ${knownKeys.join(', ')}` : `, did you mean \`${suggestion}\`?`;
  return `unknown key${where}${help}`;
}

/** For a longer word, nothing is suggested, because the time of a comparison grows with its length. */
const MAX_WORD_LENGTH = 64;

/** The candidate closest to `word`; undefined when none is close enough. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const maxDistance = Math.max(1, Math.floor(word.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= maxDistance && (!best || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/**
 * Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours each count one. Item `j` of a
 * row is the distance between the first `i` characters of `a` and the first `j` characters of `b`.
 */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = at(previous, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? at(beforePrevious, j - 2) + 1 : Infinity;
      current.push(Math.min(substitution, swap, at(previous, j) + 1, at(current, j - 1) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

/** The distance at a position of a row. All callers pass a position inside the row; the default only satisfies the compiler. */
const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
