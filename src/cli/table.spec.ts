import { describe, expect, it } from '@jest/globals';
import { textWidth } from '../client/terminal-text.js';
import { painter, wantsColour } from './paint.js';
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

describe('a table', () => {
  it('stands under its titles, however wide a letter is', () => {
    expect(tableLines(columns, rows, plain)).toEqual([
      'URI                                                   NAME                          SIZE',
      'resource://files/file:///a/very/long/path/to/app.log  the log of the application  1.2 kB',
      'resource://m/x                                        世界                           7 B',
    ]);
  });

  it('is made to fit a terminal by the columns that can give way', () => {
    const lines = tableLines(columns, rows, { ...plain, width: 60 });
    expect(lines).toEqual([
      'URI                        NAME                         SIZE',
      'resource://f…h/to/app.log  the log of the applicati…  1.2 kB',
      'resource://m/x             世界                          7 B',
    ]);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(60);
  });

  it('leaves out what can be spared, the last first, where there is still too little room', () => {
    const counted: TableColumn[] = [
      { title: 'SERVER' },
      { title: 'QUEUE', isOptional: true },
      { title: 'TOOLS' },
      { title: 'PROMPTS', isOptional: true },
    ];
    const at = (width: number): string =>
      tableLines(counted, [['files', '1', '2', '3']], { ...plain, width })[0]!;
    expect([at(29), at(28), at(15)]).toEqual([
      'SERVER  QUEUE  TOOLS  PROMPTS',
      'SERVER  QUEUE  TOOLS',
      'SERVER  TOOLS',
    ]);
  });

  it('shows what would move the cursor or change colours, and obeys none of it', () => {
    const [, line] = tableLines([{ title: 'NAME' }], [['\x1b[2Jgone\n']], plain);
    expect(line).toBe('\\x1b[2Jgone\\n');
  });

  it('paints cells without counting the paint', () => {
    const [, line] = tableLines([{ title: 'A' }, { title: 'B' }], [[{ text: 'ok', style: 'green' }, 'x']], {
      paint: painter(true),
    });
    expect(line).toBe('\x1b[32mok\x1b[39m  x');
  });
});

describe('colours', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('on a terminal: %s, with %j: %s', (isTerminal, env, wanted) => {
    expect(wantsColour(isTerminal, env)).toBe(wanted);
  });
});
