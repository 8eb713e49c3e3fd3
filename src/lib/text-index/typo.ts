import type { WordBytes } from './word-bytes.js';

/**
 * Whether one letter too many, too few, another one, or two swapped make the word that stands in `bytes`. It looks at
 * bytes, so that in scripts of several bytes a letter only some of these are noticed.
 */
export function isOneTypoAway(word: WordBytes, bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  const longer = length - word.length;
  if (longer < -1 || longer > 1) return false;
  let same = 0;
  while (same < length && same < word.length && word.bytes[same] === bytes[start + same]) same++;
  if (longer === 1) return isSame(word, same, bytes, start + same + 1, end);
  if (longer === -1) return isSame(word, same + 1, bytes, start + same, end);
  return (
    isSame(word, same + 1, bytes, start + same + 1, end) || isSwapped(word, same, bytes, start + same, end)
  );
}

function isSame(word: WordBytes, from: number, bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = 0; start + i < end; i++) if (word.bytes[from + i] !== bytes[start + i]) return false;
  return true;
}

function isSwapped(word: WordBytes, from: number, bytes: Uint8Array, start: number, end: number): boolean {
  return (
    word.bytes[from] === bytes[start + 1] &&
    word.bytes[from + 1] === bytes[start] &&
    isSame(word, from + 2, bytes, start + 2, end)
  );
}
