import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { PseudoTerminal, TerminalSize } from './pseudo-terminal.js';

const DOCUMENT = 'docs/tui.md';

/** The one that the documentation shows all screens of. */
export const SMALL: TerminalSize = { columns: 80, rows: 24 };
export const LARGE: TerminalSize = { columns: 120, rows: 40 };

/** What differs from run to run, and what stands for it: ports, ages, ids. What lines up keeps its width. */
const CHANGING: readonly (readonly [RegExp, (found: string, label: string) => string])[] = [
  [/()127\.0\.0\.1:\d+ */, (found) => '127.0.0.1:3000'.padEnd(found.length)],
  [
    /(^ Connection lost, trying again)( in \d+s)?;.*/,
    (_, label) => `${label} in 1s; what you see may be old: …`,
  ],
  // What was done is said for a while.
  [/()^ (the subscription to|memory is|create_relations is) .*/, () => ''],
  [/(up for +)\d+[sm]/, (_, label) => `${label}3m`],
  [/(process +)\d+/, (_, label) => `${label}4711`],
  [/()\d{4}-\d\d-\d\dT[\d:.]+Z \(\w+ ago\)/, () => '2026-03-01T12:00:00.000Z (3m ago)'],
  [/(\bid +)[\w-]{12}$/, (_, label) => `${label}3qk1vT9uXw0e`],
  [/(session +)[0-9a-f]{16}/, (_, label) => `${label}d9b15a34619ee3a0`],
  [/(connected +)\d+[sm] ago/, (_, label) => `${label}3m ago`],
  [/( ready .*?)( +\d+[sm])(?= )/, (found, label) => label + '3m'.padStart(found.length - label.length)],
  [/() +\d+[sm](?= │|$)/, (found) => '3m'.padStart(found.length)],
];

const timeless = (lines: readonly string[]): string =>
  `${lines
    .map((line) => CHANGING.reduce((shown, [pattern, stand]) => shown.replace(pattern, stand), line))
    .join('\n')
    .trimEnd()}\n`;

/**
 * The screens in the documentation are those of the real program, and what is on the screen when it has come to rest is
 * one of them; of a large screen only some are there. Run with WRITE_SCREENS=1 to take them anew, and look at them.
 */
export async function expectDocumented(
  terminal: PseudoTerminal,
  what: string,
  { columns, rows }: TerminalSize,
): Promise<void> {
  const name = `${what} ${columns}x${rows}`;
  const place = new RegExp(`(<!-- screen: ${name} -->\\n\\n\`\`\`text\\n)([^\`]*)(\`\`\`)`);
  const document = readFileSync(DOCUMENT, 'utf8');
  const documented = place.exec(document)?.[2];
  if (documented === undefined && columns > SMALL.columns) return;
  if (process.env['WRITE_SCREENS'] && documented !== undefined) {
    const shown = timeless(await terminal.steady());
    writeFileSync(
      DOCUMENT,
      document.replace(place, (_all, head: string, _old, tail: string) => head + shown + tail),
    );
    return;
  }
  await terminal.stays(name, (lines) => timeless(lines) === documented).catch(() => {});
  expect(timeless(terminal.lines)).toBe(documented);
}
