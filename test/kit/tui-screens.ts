import { readFileSync, writeFileSync } from 'node:fs';

const DOCUMENT = 'docs/tui.md';

/** A screen without what differs from run to run: the port, and how long a server has been up. */
export const timeless = (lines: readonly string[]): string =>
  `${lines
    .map((line) =>
      line
        .replace(/127\.0\.0\.1:\d+ */, (found) => '127.0.0.1:3000'.padEnd(found.length))
        .replace(
          /( ready .*?)( +\d+s)(?= )/,
          (_all, before: string, age: string) => before + '3m'.padStart(age.length),
        ),
    )
    .join('\n')
    .trimEnd()}\n`;

/**
 * The screens in the documentation are those of the real program, and this is one of them. Run with WRITE_SCREENS=1 to
 * take them anew, and look at them.
 */
export function documented(name: string, shown: string): string | undefined {
  const place = new RegExp(`(<!-- screen: ${name} -->\\n\\n\`\`\`text\\n)([^\`]*)(\`\`\`)`);
  const document = readFileSync(DOCUMENT, 'utf8');
  const found = place.exec(document)?.[2];
  if (!process.env['WRITE_SCREENS'] || found === undefined) return found;
  writeFileSync(
    DOCUMENT,
    document.replace(place, (_all, head: string, _old, tail: string) => head + shown + tail),
  );
  return shown;
}
