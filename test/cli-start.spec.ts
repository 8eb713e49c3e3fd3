import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const DIST = 'dist';
/** Libraries that the server must not load, each with a string found only in its code. */
const MARKERS = {
  react: 'react.transitional.element',
  yoga: 'MeasureMode',
  ink: 'ink-root',
  commander: 'commander.unknownOption',
};

/** The files of the bundle that a file imports statically, directly or indirectly. */
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

/** The file of the bundle that contains a dynamically imported module. */
const chunkOf = (name: string): string =>
  readdirSync(DIST).find((file) => file.startsWith(`${name}-`) && file.endsWith('.js'))!;

const filesWith = (marker: string, files: readonly string[]): string[] =>
  files.filter((file) => readFileSync(join(DIST, file), 'utf8').includes(marker));

describe('bundle', () => {
  const server = [...loadedWith('main.js'), ...loadedWith(chunkOf('serve'))];

  it.each(Object.entries(MARKERS))('contains %s and does not load it for the server', (_name, marker) => {
    const all = readdirSync(DIST).filter((file) => file.endsWith('.js'));
    expect(filesWith(marker, all)).not.toEqual([]);
    expect(filesWith(marker, server)).toEqual([]);
  });

  it('does not load other commands for the server', () => {
    const names = ['command-line', 'run-tui', 'status-report', 'mcp-actions', 'config-actions', 'completion'];
    expect(server.filter((file) => names.some((name) => file.startsWith(`${name}-`)))).toEqual([]);
    expect(server.length).toBeGreaterThan(3);
  });
});
