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
  // What most keyboards send for backspace.
  ['delete', 'backspace'],
] as const;

/** The keys in one piece of input: whoever types fast, or pastes, presses several at once. */
export function parseKeys(input: string, key: Key): readonly string[] {
  // Two at once are one key to Ink, with the second as its input.
  if (key.escape && input === '\x1b') return ['escape', 'escape'];
  if (key.tab) return [key.shift ? 'backtab' : 'tab'];
  const named = NAMES.find(([flag]) => key[flag]);
  if (named) return [named[1]];
  if (key.ctrl) return [`ctrl-${input}`];
  // With Alt held, a letter means nothing here.
  if (key.meta) return [];
  return Array.from(input, (letter) => CONTROLS[letter] ?? withControl(letter));
}

/** Ctrl and a letter are one character, which Ink tells apart only where it comes alone. */
function withControl(letter: string): string {
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
