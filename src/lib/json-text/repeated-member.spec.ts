import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonDocument } from './json-document.js';
import { RepeatedMember } from './repeated-member.js';

const META = '{"version":"1","info":{"name":"}\\"{"}}';
const LIMITS = { texts: 2, length: 60 };

const textWith = (meta: string): string => `{"id":1,"params":{"name":"a","_meta":${meta}}}`;

/** A parser that has stored `META`. */
function parserWithMeta(): RepeatedMember {
  const parser = new RepeatedMember('params', '_meta', LIMITS);
  parser.parse(textWith(META));
  return parser;
}

const metaIn = ({ value }: { readonly value: unknown }): unknown =>
  (value as { readonly params: Readonly<Record<string, unknown>> }).params['_meta'];

describe('RepeatedMember', () => {
  it('shares the value of a member with the same text', () => {
    const parser = parserWithMeta();
    const first = parser.parse(textWith(META));
    const second = parser.parse(`{"params":{"_meta":${META},"name":"b"},"id":2}`);
    expect(first.value).toEqual(JSON.parse(textWith(META)));
    expect(second.value).toEqual({ params: { _meta: JSON.parse(META), name: 'b' }, id: 2 });
    expect(metaIn(second)).toBe(metaIn(first));
  });

  it('shares the values of several texts that alternate', () => {
    const parser = parserWithMeta();
    const other = textWith('{"version":"2"}');
    parser.parse(other);
    const [first, , second] = [textWith(META), other, textWith(META)].map((text) =>
      metaIn(parser.parse(text)),
    );
    expect(second).toBe(first);
  });

  it('tells where the member is', () => {
    const parser = parserWithMeta();
    for (const text of [textWith('{"a":[1,{}]}'), textWith(META)]) {
      const { start, end } = parser.parse(text).range!;
      expect(`${text.slice(0, start)}?${text.slice(end)}`).toBe('{"id":1,"params":{"name":"a","_meta":?}}');
    }
  });

  it.each([
    ['is a member of another object', `{"params":{"arguments":{"_meta":${META}}}}`],
    ['is a member of the whole', `{"_meta":${META},"params":{"name":"a"}}`],
    ['is followed by another one', `{"params":{"_meta":${META},"_meta":{"a":1}}}`],
    ['is followed by another one that is null', `{"params":{"_meta":${META},"_meta":null}}`],
    ['follows another one', `{"params":{"_meta":null,"arguments":{"_meta":${META}}}}`],
    ['follows another one with escapes', `{"params":{"\\u005fmeta":null,"arguments":{"_meta":${META}}}}`],
    ['is followed by one with escapes', `{"params":{"arguments":{"_meta":${META}},"\\u005fmeta":null}}`],
    ['is in params that are repeated', `{"params":{"_meta":${META}},"params":{"name":"a"}}`],
    ['has a key that only ends like it', `{"params":{"x_meta":${META},"y\\"_meta":${META}}}`],
    ['is in an array', `[{"params":{"_meta":${META}}}]`],
    ['is in params that are an array', `{"params":[{"_meta":${META}}]}`],
    ['is in a string', JSON.stringify({ params: { _meta: 1, name: `"_meta":${META}` } })],
    ['is followed by white space', `{"params" : {"_meta":${META} }\n}`],
  ])('parses like JSON.parse a text whose object %s', (_, text) => {
    const parser = parserWithMeta();
    expect(parser.parse(text).value).toEqual(JSON.parse(text));
    expect(metaIn(parser.parse(textWith(META)))).toEqual(JSON.parse(META));
  });

  it.each([
    ['has no such key', '{"ab":{"c":1}}'],
    ['has an object that is too long', textWith(`{"long":"${'x'.repeat(LIMITS.length)}"}`)],
  ])('searches no member in a text that %s', (_, text) => {
    expect(parserWithMeta().parse(text)).toEqual({ value: JSON.parse(text), range: undefined });
  });

  it.each([
    ['ends after the object', `{"params":{"_meta":${META}`],
    ['ends within the object', '{"params":{"_meta":{"a":1'],
    ['ends within a string', '{"params":{"_meta":{"a":"b'],
    ['has no colon', `{"params":{"_meta" ${META}}}`],
    ['has a character too many', `{"params":{"_meta":${META}x}}`],
  ])('throws for a text that %s', (_, text) => {
    expect(() => parserWithMeta().parse(text)).toThrow(SyntaxError);
  });

  it('stores no more objects than its limit, and none that is too long or not the member', () => {
    const parser = parserWithMeta();
    parser.parse(textWith(`{"long":"${'x'.repeat(LIMITS.length)}"}`));
    parser.parse('{"params":{"arguments":{"_meta":{"a":1}}}}');
    expect(parser.size).toBe(1);
    for (let n = 0; n < 10; n++) {
      parser.parse(textWith(`{"n":${n}}`));
      expect(parser.size).toBeLessThanOrEqual(LIMITS.texts);
    }
  });

  it('parses any text like JSON.parse', () => {
    const metas = fc.constantFrom('{"a":1}', '{"a":{"_meta":{"a":1}}}', 'null', '1');
    const keys = fc.constantFrom('"_meta"', '"\\u005fmeta"', '"params"', '"x_meta"', '"a"');
    const { text } = fc.letrec<{ text: string; object: string }>((tie) => ({
      text: fc.oneof({ depthSize: 'small' }, metas, fc.constant('"_meta\\":{"'), tie('object')),
      object: fc
        .array(fc.tuple(keys, tie('text')), { maxLength: 4 })
        .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`),
    }));
    const parser = new RepeatedMember('params', '_meta', LIMITS);
    const params = fc.array(fc.tuple(keys, text), { maxLength: 4 }).map((members) => {
      const object = members.map(([key, value]) => `${key}:${value}`).join(',');
      return `{"id":1,"params":{${object}}}`;
    });
    fc.assert(
      fc.property(params, (whole) => {
        const { value, range } = parser.parse(whole);
        expect(value).toEqual(JSON.parse(whole));
        const members = (known: typeof range): unknown =>
          JsonDocument.of(whole, value, known).indexedMember('params')?.members;
        expect(members(range)).toEqual(members(undefined));
      }),
      { numRuns: 2000 },
    );
  });
});
