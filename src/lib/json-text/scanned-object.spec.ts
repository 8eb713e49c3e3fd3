import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { runAtOnce, type Steps } from '../slices/run-sliced.js';
import { JsonDocument } from './json-document.js';
import { JsonReader } from './json-reader.js';
import { membersOf, memberText, SharedJson, type JsonText } from './json-text.js';
import { encodeSteps, oneLineSteps, ScannedObject } from './scanned-object.js';
import { indexed } from './sliced-text.js';

const MB = 1_048_576;

/** The result of a message that is long enough to be scanned. */
function resultOf(text: string): JsonText {
  const reader = new JsonReader({ maxBytes: 64 * MB, maxDepth: 64, maxMembers: 100 });
  const document = reader.read(Buffer.from(`{"id":1,"result": ${text} }`.padEnd(40_000)));
  if (!(document instanceof JsonDocument)) throw document;
  return document.member('result')!;
}

describe('ScannedObject', () => {
  const text = '{ "isError" : true, "é":"ä", "isError":false }';

  it('reads members without decoding the rest', () => {
    const result = resultOf(text);
    expect(result).toBeInstanceOf(ScannedObject);
    expect(result.memberText('isError')).toBe('false');
    expect(result.memberText('é')).toBe('"ä"');
    expect(result.memberText('text')).toBeUndefined();
    expect([result.mayHaveMember('isError'), result.mayHaveMember('resource')]).toEqual([true, false]);
  });

  it('has the bytes and the text as they came', () => {
    const result = resultOf(text) as SharedJson;
    expect(result.bytes.toString()).toBe(text);
    expect(result.text).toBe(text);
    expect(result.value).toEqual(JSON.parse(text));
  });

  it('wraps a member without changing the others', () => {
    const result = resultOf('{ "a" : [1.0] , "é":{"x":"ä"}, "b":2}');
    expect([
      result.firstCharacterOf('a'),
      result.firstCharacterOf('b'),
      result.firstCharacterOf('c'),
    ]).toEqual(['[', '2', undefined]);
    const wrapped = result.wrapMember('a', '{"result":', '}');
    expect(wrapped.text).toBe('{ "a" :{"result": [1.0] }, "é":{"x":"ä"}, "b":2}');
    expect([wrapped.memberText('é'), wrapped.memberText('b')]).toEqual(['{"x":"ä"}', '2']);
    expect(result.wrapMember('c', '{', '}')).toBe(result);
  });

  it.each([0, 1, 5, 9])('finds words across the end of a step, %i characters before it', (before) => {
    const found = (word: string): boolean =>
      runAtOnce(
        (resultOf(JSON.stringify({ s: 'r'.repeat(MB - 6 - before) + word })) as ScannedObject).includesSteps(
          'resource',
        ),
      );
    expect([found('resource'), found('resourc')]).toEqual([true, false]);
  });

  it('searches a long text in steps', () => {
    const result = resultOf(JSON.stringify({ s: 'r'.repeat(4 * MB) })) as ScannedObject;
    expect(countSteps(result.includesSteps('resource'))).toBeGreaterThanOrEqual(4);
  });

  it('has the positions of its members in the text of its bytes', () => {
    const result = resultOf('{ "ä" : [1.0] , "b":"漢" }') as ScannedObject;
    expect(result.byteMembers.map(({ key, start, end }) => [key, result.decode(start, end)])).toEqual([
      ['ä', '[1.0]'],
      ['b', '"漢"'],
    ]);
  });

  it.each([
    ['{ "a" : [1.0] , "é":{"x":"ä"}, "b":2}', ['a'], '{ "é":{"x":"ä"}, "b":2}'],
    ['{ "a" : [1.0] , "é":{"x":"ä"}, "b":2}', ['é', 'b'], '{ "a" : [1.0] }'],
    ['{"a":1,"b":2,"a":3}', ['a'], '{"b":2}'],
    ['{"a":1}', ['a'], '{}'],
    ['{}', ['a'], '{}'],
  ])('leaves members of %s out: %j', (given, keys, expected) => {
    const rest = (resultOf(given) as ScannedObject).without(new Set(keys));
    expect(rest.bytes.toString()).toBe(expected);
    expect(rest.text).toBe(expected);
    expect(rest.members).toEqual(membersOf(expected));
    for (const { key } of rest.members) expect(rest.memberText(key)).toBe(memberText(expected, key));
  });

  it('copies the bytes in steps when it is edited', () => {
    const result = resultOf(JSON.stringify({ a: 1, s: '漢'.repeat(MB), b: 2 })) as ScannedObject;
    const edits = result.byteMembers
      .filter(({ key }) => key !== 's')
      .map(({ start, end }) => ({ start, end, text: '"ä"' }));
    expect(countSteps(result.edited(edits))).toBeGreaterThanOrEqual(2);
    const edited = runAtOnce(result.edited(edits));
    expect([edited.memberText('a'), edited.memberText('b')]).toEqual(['"ä"', '"ä"']);
    expect(edited.text === JSON.stringify({ a: 'ä', s: '漢'.repeat(MB), b: 'ä' })).toBe(true);
  });

  it('applies many edits in steps', () => {
    const result = resultOf(JSON.stringify({ s: 'x'.repeat(20_000) })) as ScannedObject;
    const edits = Array.from({ length: 10_000 }, (_, n) => ({ start: 10 + n, end: 11 + n, text: 'yz' }));
    expect(countSteps(result.edited(edits))).toBeGreaterThan(10);
  });

  it.each(['é', '漢', '😀'])('decodes a text of many %s in steps', (character) => {
    for (const offset of [0, 1, 2, 3]) {
      const long = JSON.stringify({ pad: 'x'.repeat(offset), s: character.repeat(MB) });
      const steps = indexed(resultOf(long));
      let count = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) count++;
      expect(count).toBeGreaterThan(1);
      expect(step.value.text === long).toBe(true);
    }
  });
});

function countSteps(steps: Steps<unknown>): number {
  let count = 0;
  while (!steps.next().done) count++;
  return count;
}

describe('encodeSteps', () => {
  it('returns the bytes of the text', () => {
    fc.assert(
      fc.property(fc.constantFrom('a', 'é', '漢', '😀'), fc.nat(3), (character, offset) => {
        const text = 'x'.repeat(offset) + character.repeat(MB);
        expect(runAtOnce(encodeSteps(text)).equals(Buffer.from(text))).toBe(true);
      }),
      { numRuns: 12 },
    );
  });
});

describe('oneLineSteps', () => {
  it('returns bytes without line breaks as they are', () => {
    const bytes = Buffer.from('{"a":"\\n\u2028"}');
    expect(runAtOnce(oneLineSteps(bytes))).toBe(bytes);
  });

  it.each(['\n', '\r', '\r\n'])('replaces every %j, in steps of a megabyte, in a copy', (lineBreak) => {
    const text = `[${lineBreak}${`"漢",${lineBreak}`.repeat(MB / 3)}1]`;
    const bytes = Buffer.from(text);
    const steps = oneLineSteps(bytes);
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count++;
    expect(count).toBe(Math.floor(bytes.length / MB));
    expect(step.value.toString() === text.replaceAll(/[\r\n]/g, ' ')).toBe(true);
    expect(bytes.toString() === text).toBe(true);
  });
});
