import { describe, expect, it } from '@jest/globals';
import { ConfigError } from './config-error.js';
import type { ConfigProblem } from './problems.js';
import { readServer } from './read-server.js';

function problemsOf(definition: unknown, id = 'files'): readonly ConfigProblem[] {
  try {
    readServer(id, definition);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  throw new Error('it was not refused');
}

const pathsOf = (definition: unknown, id?: string): string[] =>
  problemsOf(definition, id).map(({ path }) => path);

describe('readServer', () => {
  it('applies the defaults of the file', () => {
    expect(readServer('files', { command: 'node', args: ['x'] })).toMatchObject({
      type: 'stdio',
      command: 'node',
      args: ['x'],
      enabled: true,
      concurrency: 16,
      tools: { disabled: [] },
    });
  });

  it.each([
    ['an unknown key', { command: 'node', argz: [] }, ['argz']],
    ['a value of the wrong type', { command: 'node', args: [1] }, ['args[0]']],
    ['both command and url', { command: 'node', url: 'http://x' }, ['url']],
    ['neither command nor url', {}, ['command']],
    ['a text instead of a mapping', 'node', ['definition']],
    ['a list', ['node'], ['definition']],
    ['several problems', { command: 1, queue: -1 }, ['command', 'queue']],
  ])('applies the rules of the file and reports relative paths: %s', (_what, definition, paths) => {
    expect(pathsOf(definition).toSorted()).toEqual(paths);
  });

  it.each(['a.b', 'my.server-1', '0'])('reports relative paths for the id %s', (id) => {
    expect(pathsOf({ command: 'node', args: [1] }, id)).toEqual(['args[0]']);
    expect(pathsOf(1, id)).toEqual(['definition']);
  });

  it.each(['', '../x', 'a b', '__proto__', 'x'.repeat(65)])('refuses the id %j', (id) => {
    expect(problemsOf({ command: 'node' }, id)).toHaveLength(1);
  });

  it('does not interpolate environment variables', () => {
    process.env['GATEHOUSE_TEST_SECRET'] = 'hunter2hunter2';
    const [problem] = problemsOf({ command: 'node', args: ['${GATEHOUSE_TEST_SECRET}'] });
    delete process.env['GATEHOUSE_TEST_SECRET'];
    expect(problem).toMatchObject({ path: 'args[0]', message: expect.stringContaining('not set') });
  });
});
