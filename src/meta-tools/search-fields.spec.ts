import { expect, it } from '@jest/globals';
import { splitDescription } from './search-fields.js';

it.each([
  ['Reads a file. Use it for text.', 'Reads a file', '. Use it for text.'],
  ['\n  Reads v1.2 of a file\n\nArgs: path', 'Reads v1.2 of a file', '\n\nArgs: path'],
  ['Reads a file', 'Reads a file', ''],
  ['x'.repeat(400), 'x'.repeat(300), 'x'.repeat(100)],
  [undefined, '', ''],
])('splitDescription divides a description after its first sentence (%#)', (text, summary, description) => {
  expect(splitDescription(text)).toEqual({ summary, description });
});
