import { describe, expect, it } from '@jest/globals';
import { ConfigProblems } from '../problems.js';
import { parseConfigDocument, parseValue } from './document.js';

function read(text: string) {
  const problems = new ConfigProblems();
  const document = parseConfigDocument(text, 'g.yaml', problems);
  return { document, problems: problems.list().map(({ path, message }) => `${path}: ${message}`) };
}

describe('parseConfigDocument', () => {
  it('keeps the order of the file, even of keys that look like numbers', () => {
    expect([...(read('b: 1\n2: 1\n1: 1\na: 1').document?.keys() ?? [])]).toEqual(['b', '2', '1', 'a']);
  });

  it('parses JSON, also with tabs', () => {
    const document = read('{\n\t"http": {\n\t\t"port": 0\n\t}\n}').document;
    expect(document).toEqual(new Map([['http', new Map([['port', 0]])]]));
  });

  it.each([
    ['before the file', '// servers\n{ "a": { "b": "c" } }'],
    ['before a key', '{ // servers\n"a": { /* first */ "b": "c" } }'],
    ['after a value, with trailing commas', '{ "a": { "b": "c", }, // servers\n}'],
  ])('parses JSON with a comment %s', (_where, text) => {
    expect(read(text)).toEqual({ document: new Map([['a', new Map([['b', 'c']])]]), problems: [] });
  });

  it.each([
    ['in a string of JSON', '{ "a": "http://b/*" }', 'http://b/*'],
    ['in a flow mapping of YAML', '{ a: http://b/* }', 'http://b/*'],
    ['in a block of YAML', 'a: http://b', 'http://b'],
  ])('takes no comment out of a value %s', (_where, text, value) => {
    expect(read(text).document).toEqual(new Map([['a', value]]));
  });

  it('names the position of a problem in JSON with comments', () => {
    expect(read('// servers\n{ "a": 1, /* again */ "a": 2 }').problems).toEqual([
      'g.yaml:2:23: duplicate key',
    ]);
  });

  it('reads yes and dates as text', () => {
    expect(read('a: yes\nb: 2026-01-01').document).toEqual(
      new Map([
        ['a', 'yes'],
        ['b', '2026-01-01'],
      ]),
    );
  });

  it.each([
    ['a duplicate key', 'http:\n  port: 1\n  port: 2', 'g.yaml:3:3: duplicate key'],
    ['a duplicate JSON key', '{"a": 1,\n "a": 2}', 'g.yaml:2:2: duplicate key'],
    ['a duplicate key, once as number and once as text', '1: a\n"1": b', 'g.yaml:2:1: duplicate key'],
    ['a list that is not closed', 'a: [1, 2', 'g.yaml:1:9: Flow sequence in block collection must be'],
    ['an indentation by tab', 'a:\n\tb: 1', 'g.yaml:2:1: Tabs are not allowed as indentation'],
    ['an unquoted reference in a flow mapping', 'a: {b: ${X}}', 'inside { } and [ ] put ${…} in quotes'],
    ['a second document', 'a: 1\n---\nb: 1', 'g.yaml:2:1: a second document starts here'],
    ['an unknown tag', 'a: !secret x', 'g.yaml:1:4: Unresolved tag: !secret'],
    ['an alias without an anchor', 'a: *b', 'g.yaml: Unresolved alias'],
    ['an empty file', '# nothing\n', 'g.yaml: is empty; write {} to start with the defaults'],
    ['a list at the top', '- a', 'g.yaml: must be a mapping at the top'],
    ['a text at the top', 'a', 'g.yaml: must be a mapping at the top'],
  ])('refuses %s with its position', (_what, text, problem) => {
    const { document, problems } = read(text);
    expect(document).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it('reports every duplicate key', () => {
    expect(read('a: 1\na: 2\nb: 1\nb: 2').problems).toHaveLength(2);
  });

  it('refuses aliases that expand exponentially', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
    expect(read(['a0: &a0 [x]', ...lines].join('\n')).problems).toEqual([
      expect.stringContaining('resource exhaustion'),
    ]);
  });
});

describe('parseValue', () => {
  it.each([
    ['0', 0],
    ['false', false],
    ['[a, 1]', ['a', 1]],
    ['{a: b}', new Map([['a', 'b']])],
    ['plain text', 'plain text'],
    ['', null],
    ['[not closed', '[not closed'],
    ['*nothing', '*nothing'],
  ])('reads %j', (text, value) => {
    expect(parseValue(text)).toEqual(value);
  });
});
