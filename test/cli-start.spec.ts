import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const DIST = 'dist';
/** What only a program beside the server needs, by a name that stands in its code. */
const MARKS = {
  react: 'react.transitional.element',
  yoga: 'MeasureMode',
  ink: 'ink-root',
  commander: 'commander.unknownOption',
};

/** The files of the bundle that are loaded together with one of them. */
function loadedWith(start: string): string[] {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(join(DIST, file), 'utf8');
    for (const [, other] of text.matchAll(/^(?:import|export)\b[^;]*?["']\.\/([^"']+\.js)["'];/gms))
      visit(other!);
  };
  visit(start);
  return [...found];
}

const chunk = (name: string): string =>
  readdirSync(DIST).find((file) => file.startsWith(`${name}-`) && file.endsWith('.js'))!;

const holdersOf = (mark: string, files: readonly string[]): string[] =>
  files.filter((file) => readFileSync(join(DIST, file), 'utf8').includes(mark));

describe('the bundle', () => {
  const server = [...loadedWith('main.js'), ...loadedWith(chunk('serve'))];

  it.each(Object.entries(MARKS))('starts the server without %s, which is in it', (_name, mark) => {
    const all = readdirSync(DIST).filter((file) => file.endsWith('.js'));
    expect(holdersOf(mark, all)).not.toEqual([]);
    expect(holdersOf(mark, server)).toEqual([]);
  });

  it('starts the server without any other command', () => {
    const names = ['command-line', 'run-tui', 'status-report', 'mcp-actions', 'config-actions', 'completion'];
    expect(server.filter((file) => names.some((name) => file.startsWith(`${name}-`)))).toEqual([]);
    expect(server.length).toBeGreaterThan(3);
  });
});
