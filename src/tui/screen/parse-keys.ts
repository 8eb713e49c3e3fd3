import type { Key } from 'ink';

const NAMES = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  // Most terminals send this for the backspace key.
  ['delete', 'backspace'],
] as const;

/** The keys in one chunk of input, which holds several keys after a paste or fast typing. */
export function parseKeys(input: string, key: Key): readonly string[] {
  // Ink reports two Esc in one chunk as one key with the second as its input.
  if (key.escape && input === '\x1b') return ['escape', 'escape'];
  if (key.tab) return [key.shift ? 'backtab' : 'tab'];
  const named = NAMES.find(([flag]) => key[flag]);
  if (named) return [named[1]];
  if (key.ctrl) return [`ctrl-${input}`];
  // Alt combinations are not used.
  if (key.meta) return [];
  return Array.from(input, (letter) => CONTROLS[letter] ?? keyOfCharacter(letter));
}

/** The key of a character within a chunk. Ink decodes a control character only if it is the whole chunk. */
function keyOfCharacter(letter: string): string {
  const code = letter.codePointAt(0)!;
  return code < 0x20 ? `ctrl-${String.fromCodePoint(code + 0x60)}` : letter;
}

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
  '\x1b': 'escape',
};
