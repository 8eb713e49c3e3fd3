import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { PseudoTerminal, TerminalSize } from './pseudo-terminal.js';

const DOCUMENT = 'docs/tui.md';

/** The size of most screens in the documentation. */
export const SMALL: TerminalSize = { columns: 80, rows: 24 };
export const LARGE: TerminalSize = { columns: 120, rows: 40 };

/** Values that differ between runs (ports, ages, ids) and their replacements, which keep the alignment. */
const VARIABLE_TEXTS: readonly (readonly [RegExp, (found: string, label: string) => string])[] = [
  [/()127\.0\.0\.1:\d+ */, (found) => '127.0.0.1:3000'.padEnd(found.length)],
  [
    /(^ Connection lost, reconnecting)( in \d+s)?;.*/,
    (_, label) => `${label} in 1s; data may be out of date: …`,
  ],
  // Results of actions are shown for a while.
  [/()^ (ended the|memory is|create_relations is) .*/, () => ''],
  [/(uptime +)\d+[sm]/, (_, label) => `${label}3m`],
  [/(process +)\d+/, (_, label) => `${label}4711`],
  [/()\d{4}-\d\d-\d\dT[\d:.]+Z \(\w+ ago\)/, () => '2026-03-01T12:00:00.000Z (3m ago)'],
  [/(\bid +)[\w-]{12}$/, (_, label) => `${label}3qk1vT9uXw0e`],
  [/(session +)[0-9a-f]{16}/, (_, label) => `${label}d9b15a34619ee3a0`],
  [/(connected +)\d+[sm] ago/, (_, label) => `${label}3m ago`],
  [/( ready .*?)( +\d+[sm])(?= )/, (found, label) => label + '3m'.padStart(found.length - label.length)],
  [/() +\d+[sm](?= │|$)/, (found) => '3m'.padStart(found.length)],
];

const withFixedValues = (lines: readonly string[]): string =>
  `${lines
    .map((line) =>
      VARIABLE_TEXTS.reduce((shown, [pattern, replace]) => shown.replace(pattern, replace), line),
    )
    .join('\n')
    .trimEnd()}\n`;

/**
 * Compares the screen with the one in the documentation. Screens of a large terminal need not be
 * documented. Run with WRITE_SCREENS=1 to update the documentation, and review the result.
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
    const shown = withFixedValues(await terminal.steady());
    writeFileSync(
      DOCUMENT,
      document.replace(place, (_all, head: string, _old, tail: string) => head + shown + tail),
    );
    return;
  }
  await terminal.stays(name, (lines) => withFixedValues(lines) === documented).catch(() => {});
  expect(withFixedValues(terminal.lines)).toBe(documented);
}
