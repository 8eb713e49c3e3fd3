import { describe, expect, it } from '@jest/globals';
import { formatPath, ConfigProblems } from './problems.js';

describe('formatPath', () => {
  it.each([
    [['http', 'port'], 'http.port'],
    [['mcpServers', 'a', 'args', 0], 'mcpServers.a.args[0]'],
    [['mcpServers', 'a.b', 'headers', 'X-Key'], 'mcpServers["a.b"].headers.X-Key'],
    [['a\nb'], '["a\\nb"]'],
  ])('writes %j as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });
});

describe('ConfigProblems', () => {
  it('keep the first problem of a path', () => {
    const problems = new ConfigProblems();
    problems.add(['a'], 'first');
    problems.add(['a'], 'second');
    expect(problems.list()).toEqual([{ path: 'a', message: 'first' }]);
  });

  it('name the variable of a value and of its children, and of no other value', () => {
    const problems = new ConfigProblems();
    problems.recordSource(['a', 'b'], '${B}');
    for (const path of [['a', 'b'], ['a', 'b', 0], ['a', 'b', 'c'], ['a', 'bc'], ['a']])
      problems.add(path, 'bad');
    expect(problems.list().map(({ message }) => message)).toEqual([
      'bad (from ${B})',
      'bad (from ${B})',
      'bad (from ${B})',
      'bad',
      'bad',
    ]);
  });

  it('drop the problems of an overridden value', () => {
    const problems = new ConfigProblems();
    problems.add(['a', 'b'], 'bad');
    problems.add(['ab'], 'bad');
    problems.recordOverride(['a'], 'GATEHOUSE__A');
    expect(problems.list()).toEqual([{ path: 'ab', message: 'bad' }]);
  });
});
