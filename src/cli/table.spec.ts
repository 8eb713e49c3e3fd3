import { describe, expect, it } from '@jest/globals';
import { textWidth } from '../client/terminal-text.js';
import { painter } from './output.js';
import { tableLines, type TableColumn } from './table.js';

const columns: TableColumn[] = [
  { title: 'URI', truncate: 'middle' },
  { title: 'NAME', truncate: 'end' },
  { title: 'SIZE', align: 'right' },
];
const rows = [
  ['resource://files/file:///a/very/long/path/to/app.log', 'the log of the application', '1.2 kB'],
  ['resource://m/x', '世界', '7 B'],
];
const plain = { paint: painter(false) };

describe('tableLines', () => {
  it('aligns columns by display width', () => {
    expect(tableLines(columns, rows, plain)).toEqual([
      'URI                                                   NAME                          SIZE',
      'resource://files/file:///a/very/long/path/to/app.log  the log of the application  1.2 kB',
      'resource://m/x                                        世界                           7 B',
    ]);
  });

  it('truncates columns to fit the width of the terminal', () => {
    const lines = tableLines(columns, rows, { ...plain, width: 60 });
    expect(lines).toEqual([
      'URI                        NAME                         SIZE',
      'resource://f…h/to/app.log  the log of the applicati…  1.2 kB',
      'resource://m/x             世界                          7 B',
    ]);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(60);
  });

  it('leaves out optional columns, the last first, if truncating is not enough', () => {
    const withOptionalColumns: TableColumn[] = [
      { title: 'SERVER' },
      { title: 'QUEUE', isOptional: true },
      { title: 'TOOLS' },
      { title: 'PROMPTS', isOptional: true },
    ];
    const headerAt = (width: number): string =>
      tableLines(withOptionalColumns, [['files', '1', '2', '3']], { ...plain, width })[0]!;
    expect([headerAt(29), headerAt(28), headerAt(15)]).toEqual([
      'SERVER  QUEUE  TOOLS  PROMPTS',
      'SERVER  QUEUE  TOOLS',
      'SERVER  TOOLS',
    ]);
  });

  it('escapes control sequences in cells', () => {
    const [, line] = tableLines([{ title: 'NAME' }], [['\x1b[2Jgone\n']], plain);
    expect(line).toBe('\\x1b[2Jgone\\n');
  });

  it('ignores colour codes when it aligns columns', () => {
    const [, line] = tableLines([{ title: 'A' }, { title: 'B' }], [[{ text: 'ok', style: 'green' }, 'x']], {
      paint: painter(true),
    });
    expect(line).toBe('\x1b[32mok\x1b[39m  x');
  });
});
