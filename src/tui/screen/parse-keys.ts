import type { Key } from 'ink';

/** Flags that Ink sets for keys, each with the name of the key. */
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
  // Most terminals send 0x7f for the backspace key. Ink reports it as `delete`.
  ['delete', 'backspace'],
] as const;

/** The names of the keys in one chunk of input. A chunk has several keys after a paste or fast typing. */
export function parseKeys(input: string, key: Key): readonly string[] {
  // If Esc is pressed twice in one chunk, Ink reports one Esc key with the second one as its input.
  if (key.escape && input === '\x1b') return ['escape', 'escape'];
  if (key.tab) return [key.shift ? 'backtab' : 'tab'];
  const named = NAMES.find(([flag]) => key[flag]);
  if (named) return [named[1]];
  if (key.ctrl) return [`ctrl-${input}`];
  // No command uses a combination with Alt.
  if (key.meta) return [];
  return Array.from(input, (character) => CONTROLS[character] ?? keyOfCharacter(character));
}

/**
 * The name of the key for one character of a chunk. Ink recognizes a control character only in a chunk without other
 * characters.
 */
function keyOfCharacter(character: string): string {
  const code = character.codePointAt(0)!;
  return code < 0x20 ? `ctrl-${String.fromCodePoint(code + 0x60)}` : character;
}

const CONTROLS: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\b': 'backspace',
  '\x7f': 'backspace',
  '\x1b': 'escape',
};
