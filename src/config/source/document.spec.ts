import { describe, expect, it } from '@jest/globals';
import { Problems } from '../problems.js';
import { readDocument, readValue } from './document.js';

function read(text: string) {
  const problems = new Problems();
  const document = readDocument(text, 'g.yaml', problems);
  return { document, problems: problems.list().map(({ path, what }) => `${path}: ${what}`) };
}

describe('readDocument', () => {
  it('keeps the order of the file, even of keys that look like numbers', () => {
    expect([...(read('b: 1\n2: 1\n1: 1\na: 1').document?.keys() ?? [])]).toEqual(['b', '2', '1', 'a']);
  });

  it('reads JSON, also when it is indented with tabs', () => {
    const document = read('{\n\t"http": {\n\t\t"port": 0\n\t}\n}').document;
    expect(document).toEqual(new Map([['http', new Map([['port', 0]])]]));
  });

  it('takes yes and dates for the text they are', () => {
    expect(read('a: yes\nb: 2026-01-01').document).toEqual(
      new Map([
        ['a', 'yes'],
        ['b', '2026-01-01'],
      ]),
    );
  });

  it.each([
    [
      'a key that stands twice',
      'http:\n  port: 1\n  port: 2',
      'g.yaml:3:3: this key stands twice in its mapping',
    ],
    [
      'a JSON key that stands twice',
      '{"a": 1,\n "a": 2}',
      'g.yaml:2:2: this key stands twice in its mapping',
    ],
    [
      'a key that stands twice as number and text',
      '1: a\n"1": b',
      'g.yaml:2:1: this key stands twice in its mapping',
    ],
    ['a list that is not closed', 'a: [1, 2', 'g.yaml:1:9: Flow sequence in block collection must be'],
    ['an indentation by tab', 'a:\n\tb: 1', 'g.yaml:2:1: Tabs are not allowed as indentation'],
    ['an unquoted reference in a flow mapping', 'a: {b: ${X}}', 'inside { } and [ ] put ${…} in quotes'],
    ['a second document', 'a: 1\n---\nb: 1', 'g.yaml:2:1: a second document starts here'],
    ['an unknown tag', 'a: !secret x', 'g.yaml:1:4: Unresolved tag: !secret'],
    ['an alias of nothing', 'a: *b', 'g.yaml: Unresolved alias'],
    ['an empty file', '# nothing\n', 'g.yaml: is empty; write {} to start with the defaults'],
    ['a list at the top', '- a', 'g.yaml: must be a mapping at the top'],
    ['a text at the top', 'a', 'g.yaml: must be a mapping at the top'],
  ])('refuses %s and says where', (_what, text, problem) => {
    const { document, problems } = read(text);
    expect(document).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it('reports every key that stands twice', () => {
    expect(read('a: 1\na: 2\nb: 1\nb: 2').problems).toHaveLength(2);
  });

  it('refuses aliases that multiply', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
    expect(read(['a0: &a0 [x]', ...lines].join('\n')).problems).toEqual([
      expect.stringContaining('resource exhaustion'),
    ]);
  });
});

describe('readValue', () => {
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
    expect(readValue(text)).toEqual(value);
  });
});
