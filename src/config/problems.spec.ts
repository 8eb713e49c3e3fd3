import { describe, expect, it } from '@jest/globals';
import { pathText, Problems } from './problems.js';

describe('pathText', () => {
  it.each([
    [['http', 'port'], 'http.port'],
    [['mcpServers', 'a', 'args', 0], 'mcpServers.a.args[0]'],
    [['mcpServers', 'a.b', 'headers', 'X-Key'], 'mcpServers["a.b"].headers.X-Key'],
    [['a\nb'], '["a\\nb"]'],
  ])('writes %j as %s', (path, text) => {
    expect(pathText(path)).toBe(text);
  });
});

describe('Problems', () => {
  it('keep the first of a path', () => {
    const problems = new Problems();
    problems.add(['a'], 'first');
    problems.add(['a'], 'second');
    expect(problems.list()).toEqual([{ path: 'a', what: 'first' }]);
  });

  it('name the variable a value came from, also below it, and not beside it', () => {
    const problems = new Problems();
    problems.attribute(['a', 'b'], '${B}');
    for (const path of [['a', 'b'], ['a', 'b', 0], ['a', 'b', 'c'], ['a', 'bc'], ['a']])
      problems.add(path, 'bad');
    expect(problems.list().map(({ what }) => what)).toEqual([
      'bad (from ${B})',
      'bad (from ${B})',
      'bad (from ${B})',
      'bad',
      'bad',
    ]);
  });

  it('forget what was wrong with a value that was replaced', () => {
    const problems = new Problems();
    problems.add(['a', 'b'], 'bad');
    problems.add(['ab'], 'bad');
    problems.replaced(['a'], 'GATEHOUSE__A');
    expect(problems.list()).toEqual([{ path: 'ab', what: 'bad' }]);
  });
});
