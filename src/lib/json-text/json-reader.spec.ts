import { describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument, MAX_ARRAY_BYTES, MAX_ELEMENTS } from './json-document.js';
import { JsonProblem, JsonReader, type JsonReaderOptions } from './json-reader.js';
import { MAX_EAGER_LENGTH, memberText, membersOf } from './json-text.js';

const OPTIONS: JsonReaderOptions = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 100_000 };

/** Reads the text in pieces of `size` bytes. */
function read(
  text: string | Buffer,
  { size = 1000, ...options }: Partial<JsonReaderOptions> & { size?: number } = {},
): JsonDocument | JsonProblem {
  const bytes = Buffer.from(text);
  const reader = new JsonReader({ ...OPTIONS, ...options });
  for (let from = 0; from < bytes.length; from += size)
    if (!reader.append(bytes.subarray(from, from + size))) throw new Error('too many bytes');
  return reader.take();
}

function documentOf(text: string, options?: Parameters<typeof read>[1]): JsonDocument {
  const document = read(text, options);
  if (document instanceof JsonProblem) throw document;
  return document;
}

function problemOf(text: string | Buffer, options?: Parameters<typeof read>[1]): JsonProblem {
  const problem = read(text, options);
  if (problem instanceof JsonProblem) return problem;
  throw new Error('the text was read');
}

/** Makes a text long enough that it is scanned and not parsed as a whole. */
const long = (text: string): string => text + ' '.repeat(MAX_EAGER_LENGTH);

const ones = (length: number): string => JSON.stringify(Array.from({ length }, () => 1));

const fill = (length: number, memberOf: (index: number) => string): string =>
  Array.from({ length }, (_, index) => memberOf(index)).join(',');

const object = fc.dictionary(
  fc.oneof(fc.constantFrom('id', 'method', '__proto__', 'é"\\', ''), fc.string()),
  fc.jsonValue(),
  { maxKeys: 6 },
);

describe('JsonReader', () => {
  it.each([
    ['short', (text: string) => text],
    ['long', long],
  ])('reads a %s text like JSON.parse', (_size, lengthen) => {
    fc.assert(
      fc.property(object, fc.integer({ min: 1, max: 9 }), fc.nat(3), (value, size, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        const document = documentOf(lengthen(text), { size: size * 500 });
        expect(document.kind).toBe('object');
        expect(document.text.trim()).toBe(text);
        expect({ ...(document.value as object) }).toEqual({ ...(JSON.parse(text) as object) });
        for (const key of [...Object.keys(value), 'missing'])
          expect(document.memberText(key)).toBe(memberText(text, key));
      }),
    );
  });

  it.each([0, 32 * 1024])('reads the last of repeated members, with %i bytes more', (padding) => {
    const document = documentOf(`{"a":1, "\\u0061" : 2 }${' '.repeat(padding)}`);
    expect(document.value).toMatchObject({ a: 2 });
    expect(document.memberText('a')).toBe('2');
  });

  it.each(['[]', '[ ]', '[1, {"a":[2]},"x,y" ]', `[${JSON.stringify('x'.repeat(40_000))},{}]`])(
    'returns the elements of the array %.40s',
    (text) => {
      for (const document of [documentOf(text), documentOf(long(text))]) {
        expect(document.kind).toBe('array');
        expect(document.elements()?.map(({ value }) => value)).toEqual(JSON.parse(text));
      }
    },
  );

  it('returns no elements of an array that is too long', () => {
    expect(documentOf(ones(MAX_ELEMENTS)).elements()).toHaveLength(MAX_ELEMENTS);
    for (const text of [ones(MAX_ELEMENTS + 1), long(ones(1500)), `["${'a'.repeat(MAX_ARRAY_BYTES)}"]`])
      expect(documentOf(text, { maxBytes: 2 * MAX_ARRAY_BYTES }).elements()).toBeUndefined();
  });

  it('returns no elements of an array with an element that has more members than are recorded', () => {
    const members = fill(1100, (n) => `"k${n}":"${'x'.repeat(40)}"`);
    expect(documentOf(`[{${fill(900, (n) => `"k${n}":"${'x'.repeat(40)}"`)}}]`).elements()).toHaveLength(1);
    expect(documentOf(`[{"a":1},{${members},"id":1}]`).elements()).toBeUndefined();
  });

  it('finds the elements of a long array in steps', () => {
    const elements = Array.from({ length: 16 }, () => `{"s":"${'a'.repeat(250_000)}"}`);
    const steps = documentOf(`[${elements.join(',')}]`, { maxBytes: MAX_ARRAY_BYTES }).elementSteps();
    let count = 0;
    for (; !steps.next().done; count++);
    expect(count).toBeGreaterThanOrEqual(16);
    const one = documentOf(`[${ones(1_000_000)}]`, { maxBytes: MAX_ARRAY_BYTES, maxMembers: Infinity });
    const inner = one.elementSteps();
    for (count = 0; !inner.next().done; count++);
    expect(count).toBeGreaterThanOrEqual(7);
  });

  it('does not parse a very long member that is no object', () => {
    const document = documentOf(
      `{"jsonrpc":"${'a'.repeat(2 ** 20)}","method":[${ones(600_000)}],"id":7,"params":{"s":"${'a'.repeat(2 ** 20)}"}}`,
      {
        maxBytes: MAX_ARRAY_BYTES,
        maxMembers: Infinity,
      },
    );
    const parse = jest.spyOn(JSON, 'parse');
    expect(document.value).toMatchObject({ jsonrpc: null, method: null, id: 7 });
    expect([document.hasMember('method'), document.hasMember('result')]).toEqual([true, false]);
    expect(parse.mock.calls.every(([text]) => text.length < 100)).toBe(true);
    parse.mockRestore();
  });

  it('scans long elements of an array instead of parsing them', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const element = `{"id":7,"params":{"text":"${'a'.repeat(MAX_EAGER_LENGTH)}"}}`;
    const [document] = documentOf(`[ ${element} , 1]`).elements()!;
    expect(parse.mock.calls.every(([text]) => text.length < 100)).toBe(true);
    expect(document!.memberText('id')).toBe('7');
    expect(document!.text).toBe(element);
    parse.mockRestore();
  });

  it.each([
    ['an object', (n: number) => `{"id":7,${fill(n, (index) => `"key ${index}":"${'a'.repeat(30)}"`)}}`],
    ['an array', (n: number) => `[${fill(n, () => `"${'a'.repeat(30)}"`)}]`],
  ])('refuses %s with more outermost members than it indexes, without parsing it', (_, textOf) => {
    const parse = jest.spyOn(JSON, 'parse');
    expect(problemOf(textOf(5000))).toMatchObject({ reason: 'members' });
    expect(parse.mock.calls.every(([text]) => text.length < 100)).toBe(true);
    parse.mockRestore();
    expect(documentOf(textOf(900))).toBeInstanceOf(JsonDocument);
  });

  it('finds the id of an object with too many members', () => {
    const text = `{"id":7,${fill(100_000, (index) => `"key ${index}":1`)}}`;
    expect(problemOf(text, { maxBytes: Infinity }).document?.memberText('id')).toBe('7');
  });

  it.each([
    ['depth', `{"id":7,"params":${'['.repeat(64)}${']'.repeat(64)}}`, 'is nested more than 64 levels deep'],
    [
      'depth',
      long(`{"params":${'['.repeat(64)}${']'.repeat(64)},"id":7}`),
      'is nested more than 64 levels deep',
    ],
    [
      'members',
      `{"params":[${Array.from({ length: 99_999 }, () => 1).join(',')}],"id":7}`,
      'has more than 100000 members and elements',
    ],
  ])('refuses a text over the limit of %s and finds its id', (reason, text, message) => {
    const problem = problemOf(text);
    expect(problem).toMatchObject({ reason, message });
    expect(problem.document?.memberText('id')).toBe('7');
  });

  it.each([
    ['depth', `[${'['.repeat(63)}${']'.repeat(63)}]`],
    ['members', `[[${Array.from({ length: 99_999 }, () => 1).join(',')}]]`],
    ['brackets in strings', JSON.stringify('['.repeat(100))],
    ['many brackets side by side', `[${Array.from({ length: 100 }, () => '["\\"["]').join(',')}]`],
  ])('reads a text at the limit of %s', (_limit, text) => {
    expect(documentOf(text).text).toBe(text);
    expect(documentOf(long(text)).text).toBe(text);
  });

  it.each(['', '{', '{"a":1}x', 'nul', '['.repeat(70), '[[[{"a":]]]'])('refuses %j', (text) => {
    expect(problemOf(text).reason).toBe('syntax');
    expect(problemOf(long(text)).reason).toBe('syntax');
  });

  it.each([Buffer.from('"\xe9"', 'latin1'), Buffer.from(long('"\xe9"'), 'latin1')])(
    'refuses bytes that are not UTF-8',
    (bytes) => {
      expect(problemOf(bytes).reason).toBe('encoding');
    },
  );

  it('reads U+FFFD that was sent as such', () => {
    expect(documentOf('"\uFFFD"').value).toBe('\uFFFD');
  });

  it('stops at its maximum of bytes and is empty then', () => {
    const reader = new JsonReader({ ...OPTIONS, maxBytes: 50_000 });
    expect(reader.append(Buffer.alloc(40_000, ' '))).toBe(true);
    expect(reader.append(Buffer.alloc(10_001, ' '))).toBe(false);
    expect(reader.append(Buffer.from('[1]'))).toBe(true);
    expect((reader.take() as JsonDocument).value).toEqual([1]);
  });

  it('starts again after every text', () => {
    const reader = new JsonReader(OPTIONS);
    for (const text of [long('[1]'), '[2]', long('{"a":3}'), '4']) {
      reader.append(Buffer.from(text));
      expect((reader.take() as JsonDocument).text).toBe(text.trim());
    }
    reader.append(Buffer.from(long('[')));
    reader.clear();
    expect((reader.read(Buffer.from('x[5]x'), 1, 4) as JsonDocument).value).toEqual([5]);
  });
});

describe('member of a long document', () => {
  it('has the positions that membersOf finds', () => {
    fc.assert(
      fc.property(object, fc.nat(2), (value, indent) => {
        const text = JSON.stringify({ é: 1, params: value, id: 7 }, undefined, indent);
        const member = documentOf(long(text)).member('params');
        expect(member?.text).toBe(memberText(text, 'params'));
        expect(member?.isIndexed).toBe(true);
        expect(member?.members).toEqual(membersOf(member!.text));
      }),
    );
  });

  it.each([
    ['an array', '[{"a":1}]'],
    ['a string', '"{"'],
    ['an object with too many members', JSON.stringify(Object.fromEntries(Array(5000).fill(0).entries()))],
  ])('has no positions for %s', (_what, value) => {
    const member = documentOf(long(`{"params": ${value} ,"id":7}`)).member('params');
    expect(member?.text).toBe(value);
    expect(member?.isIndexed).toBe(false);
    expect(member?.value).toEqual(JSON.parse(value));
  });

  it('has positions where an object with too many members follows', () => {
    const wide = JSON.stringify(Object.fromEntries(Array(5000).fill(0).entries()));
    const document = documentOf(`{"params":{"a":1},"result":${wide}}`);
    expect(document.member('params')?.isIndexed).toBe(true);
    expect(document.member('result')?.isIndexed).toBe(false);
  });
});

describe('value of a long document', () => {
  const big = { query: 'q', nested: { a: 1 }, text: 'x'.repeat(MAX_EAGER_LENGTH) };
  const text = JSON.stringify({ name: 'n', none: null, arguments: big });

  it('behaves like the parsed object', () => {
    const value = documentOf(text).value as Record<string, unknown>;
    expect(value['name']).toBe('n');
    expect('none' in value).toBe(true);
    expect(value['none']).toBeNull();
    expect('missing' in value).toBe(false);
    expect(Object.keys(value)).toEqual(['name', 'none', 'arguments']);
    expect(Object.keys(value['arguments'] as object)).toEqual(['query', 'nested', 'text']);
    expect(JSON.stringify(value)).toBe(text);
    expect(value['constructor']).toBe(Object);
  });

  it('cannot be changed', () => {
    const value = documentOf(text).value as Record<string, Record<string, unknown>>;
    expect(() => (value['name'] = {})).toThrow(TypeError);
    expect(() => delete value['name']).toThrow(TypeError);
    expect(() => (value['arguments']!['query'] = 'r')).toThrow(TypeError);
    expect(() => delete value['arguments']!['query']).toThrow(TypeError);
  });
});
