import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { progressTokenOf, progressUnder, withProgressToken } from './progress-token.js';

describe('progressTokenOf', () => {
  it.each([
    ['a string', '{"_meta":{"progressToken":"a"}}', '"a"'],
    ['a number as it was written', '{"_meta":{"progressToken": 1.0 }}', '1.0'],
    ['a token under an escaped key', '{"_meta":{"progress\\u0054oken":5}}', '5'],
    ['a token in an escaped _meta', '{"\\u005fmeta":{"progressToken":5}}', '5'],
    ['the last of two tokens', '{"_meta":{"progressToken":1,"progressToken":2}}', '2'],
    ['a token in the first of two _meta', '{"_meta":{"progressToken":1},"_meta":{}}', '1'],
    ['a token in the second of two _meta', '{"_meta":null,"_meta":{"progressToken":1}}', '1'],
  ])('finds %s', (_what, params, token) => {
    expect(progressTokenOf(params)).toBe(token);
  });

  it.each([
    ['without params', undefined],
    ['in empty params', '{}'],
    ['in an empty _meta', '{"_meta":{}}'],
    ['beside _meta', '{"progressToken":1,"_meta":{}}'],
    ['deeper than _meta', '{"_meta":{"x":{"progressToken":1}}}'],
    ['in the arguments', '{"arguments":{"_meta":{"progressToken":1}}}'],
    ['in a text', '{"_meta":{"x":"\\"progressToken\\":1"}}'],
    ['in a _meta that is a list', '{"_meta":["progressToken"]}'],
    ['in a _meta that is null', '{"_meta":null,"x":"progressToken"}'],
    ['in another case', '{"_meta":{"progresstoken":1}}'],
  ])('finds none %s', (_what, params) => {
    expect(progressTokenOf(params)).toBeUndefined();
  });
});

describe('withProgressToken', () => {
  it('changes the token and no other byte', () => {
    expect(withProgressToken('{ "a" : 1.0, "_meta" : { "progressToken" : "x" , "b" : 1.0 } }', '7')).toBe(
      '{ "a" : 1.0, "_meta" : { "progressToken" : 7 , "b" : 1.0 } }',
    );
  });

  it.each([
    ['{"_meta":null,"_meta":{"progressToken":1}}', '{"_meta":null,"_meta":{"progressToken":7}}'],
    ['{"_meta":{"progressToken":1},"_meta":[]}', '{"_meta":{"progressToken":7},"_meta":[]}'],
    [
      '{"_meta":{"progressToken":1},"_meta":{"progressT\\u006fken":2}}',
      '{"_meta":{"progressToken":7},"_meta":{"progressT\\u006fken":7}}',
    ],
  ])('replaces the token in every _meta: %s', (params, expected) => {
    expect(withProgressToken(params, '7')).toBe(expected);
  });

  it('sets the token that progressTokenOf returns', () => {
    const meta = fc.oneof(
      fc.constantFrom('null', '[]', '{}', '{"progressToken":1}', '{"x":1,"progress\\u0054oken":"a"}', '1'),
    );
    fc.assert(
      fc.property(fc.array(meta), (metas) => {
        const params = `{${['"x":{}', ...metas.map((text) => `"_meta":${text}`)].join(',')}}`;
        const token = progressTokenOf(params);
        const rewritten = withProgressToken(params, '7');
        expect(progressTokenOf(rewritten)).toBe(token && '7');
        expect(rewritten === params).toBe(token === undefined);
      }),
    );
  });
});

describe('progressUnder', () => {
  it('sets the token of a progress notification', () => {
    expect(progressUnder('"a"', '{ "progressToken":7, "progress": 1.0 }')).toBe(
      '{ "progressToken":"a", "progress": 1.0 }',
    );
  });
});
