import * as fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../lib/json-text/json-text.js';
import { URIS_AT_THE_LIMIT } from '../../test/kit/uri-lengths.js';
import {
  requireString,
  requireUri,
  MAX_PROGRESS_TOKEN_LENGTH,
  ownParams,
  withOwnValue,
  progressTokenOf,
  progressWithToken,
  withoutTask,
  withProgressToken,
} from './params.js';

const refused = (message: string | RegExp) =>
  expect.objectContaining({ kind: 'invalid-params', message: expect.stringMatching(message) });

describe('requireString', () => {
  it('returns the string', () => {
    expect(requireString({ name: '' }, 'name')).toBe('');
  });

  it.each([undefined, {}, { name: null }, { name: 1 }, { name: ['a'] }, { name: {} }, { Name: 'a' }])(
    'refuses %j, naming the key',
    (params) => {
      expect(() => requireString(params, 'name')).toThrow(refused(/^name must be a string$/));
    },
  );
});

describe('requireUri', () => {
  it.each(['', 'x:1'])('accepts %j', (uri) => {
    expect(requireUri({ uri })).toBe(uri);
  });

  it.each([undefined, {}, { uri: undefined }, { uri: null }, { uri: 7 }, { uri: ['x:1'] }, { URI: 'x:1' }])(
    'refuses params without a URI: %j',
    (params) => {
      expect(() => requireUri(params)).toThrow(
        expect.objectContaining({ kind: 'invalid-params', message: 'uri must be a string' }),
      );
    },
  );

  it.each(URIS_AT_THE_LIMIT)(
    'refuses a URI that is too long, without repeating it, in %s',
    (_what, longest, tooLong) => {
      expect(requireUri({ uri: longest })).toBe(longest);
      expect(() => requireUri({ uri: tooLong })).toThrow(
        expect.objectContaining({
          kind: 'invalid-params',
          message: 'uri must not be longer than 8192 bytes',
        }),
      );
    },
  );
});

describe('withOwnValue', () => {
  it('replaces the public value by the own one and changes no other byte', () => {
    expect(withOwnValue('{ "x" : 1.0 , "name" : "fs__read" }', 'name', 'read')).toBe(
      '{ "x" : 1.0 , "name" : "read" }',
    );
  });

  it('writes the own value as JSON', () => {
    expect(withOwnValue('{"name":"a"}', 'name', '"\n\\')).toBe('{"name":"\\"\\n\\\\"}');
  });

  it('replaces every occurrence of the key, in any spelling', () => {
    expect(withOwnValue('{"name":"a","n\\u0061me":"b"}', 'name', 'own')).toBe(
      '{"name":"own","n\\u0061me":"own"}',
    );
  });

  it('replaces no nested key', () => {
    const params = '{"name":"a","arguments":{"name":"b","Name":"c"},"_meta":{"NAME":1}}';
    expect(withOwnValue(params, 'name', 'own')).toBe(params.replace('"a"', '"own"'));
  });

  it.each([
    ['another case', 'name', 'Name'],
    ['capitals', 'name', 'NAME'],
    ['an escaped letter in another case', 'name', 'n\\u0041me'],
    ['full-width letters', 'name', 'ｎａｍｅ'],
    ['mathematical letters', 'name', '𝐧𝐚𝐦𝐞'],
    ['the long s', 'uris', 'uriſ'],
    ['the Kelvin sign', 'k', 'K'],
    ['a dotless i, which in capitals is an I', 'uri', 'urı'],
    ['a dotted I, which some parsers treat as an i', 'uri', 'urİ'],
    ['a capital in a key of two words', 'requestId', 'requestid'],
    ['an underscore, which some parsers ignore', 'requestId', 'request_id'],
    ['a hyphen, which some parsers ignore', 'name', 'na-me'],
    ['an accent', 'name', 'námé'],
    ['an invisible character', 'name', 'na\u200bme'],
    ['something after a NUL, where some parsers stop', 'name', 'name\\u0000x'],
  ])('refuses a similar key with %s', (_what, key, similar) => {
    for (const params of [`{"${key}":"a","${similar}":"b"}`, `{"${similar}":"b","${key}":"a"}`])
      expect(() => withOwnValue(params, key, 'own')).toThrow(refused(`is too similar to ${key}$`));
  });

  it.each(['nam', 'names', 'title', 'arguments', '_meta', '__proto__', 'task', ''])(
    'keeps the key %j',
    (key) => {
      const params = `{"name":"a","${key}":"b"}`;
      expect(withOwnValue(params, 'name', 'own')).toBe(params.replace('"a"', '"own"'));
    },
  );

  it.each([
    [
      'more members than are compared',
      Object.fromEntries(Array(1000).fill(0).entries()),
      'more than 1000 members',
    ],
    ['a very long key', { ['n'.repeat(1001)]: 1 }, 'more than 1000 characters'],
  ])('refuses %s', (_what, more, message) => {
    expect(() => withOwnValue(JSON.stringify({ name: 'a', ...more }), 'name', 'own')).toThrow(
      refused(message),
    );
  });

  it('uses the members that are known', () => {
    const text = '{"name":"a"}';
    expect(withOwnValue(text, 'name', 'own', [{ key: 'name', keyStart: 1, start: 8, end: 11 }])).toBe(
      '{"name":"own"}',
    );
  });

  it('treats absent params as empty', () => {
    expect(withOwnValue(undefined, 'name', 'own')).toBe('{}');
  });

  it('leaves only the own value for a case-insensitive parser', () => {
    const key = fc.oneof(fc.constantFrom('name', 'Name', 'NAME', 'ｎame', 'other', '_meta'), fc.string());
    const members = fc.array(fc.tuple(key, fc.string()));
    fc.assert(
      fc.property(members, (given) => {
        const all = [['name', 'fs__read'], ...given];
        const text = `{${all.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join(',')}}`;
        let rewritten: string;
        try {
          rewritten = withOwnValue(text, 'name', 'own');
        } catch {
          return;
        }
        const values = Object.entries(JSON.parse(rewritten) as object)
          .filter(([k]) => k.localeCompare('name', 'en', { sensitivity: 'base' }) === 0)
          .map(([, value]) => value as unknown);
        expect(values).toEqual(['own']);
      }),
    );
  });
});

describe('ownParams', () => {
  it.each([
    '{"name":"fs__read","arguments":{"a":1},"_meta":{}}',
    '{ "x" : 1.0 , "name" : "fs__read" , "y":[] }',
    '{"name":"a","x":1,"n\\u0061me":"long name"}',
    '{"x":1}',
    '{}',
  ])('has the text of withOwnValue and the positions in it for %s', (text) => {
    const { params, paramsMembers } = ownParams(text, 'name', 'own');
    expect(params).toBe(withOwnValue(text, 'name', 'own'));
    expect(paramsMembers).toEqual(membersOf(params));
    expect(ownParams(text, 'name', 'own', membersOf(text))).toEqual({ params, paramsMembers });
  });

  it('refuses a similar key', () => {
    expect(() => ownParams('{"name":"a","Name":"b"}', 'name', 'own')).toThrow(refused('is too similar'));
  });
});

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

describe('progressWithToken', () => {
  it('sets the token of a progress notification', () => {
    expect(progressWithToken('{ "progressToken":7, "progress": 1.0 }', '"a"')).toBe(
      '{ "progressToken":"a", "progress": 1.0 }',
    );
  });
});

const withToken = (token: string): string => JSON.stringify({ _meta: { progressToken: token } });

describe('progressTokenOf, a long token', () => {
  it('returns a token of the maximum length', () => {
    const token = 'x'.repeat(MAX_PROGRESS_TOKEN_LENGTH - 2);
    expect(progressTokenOf(withToken(token))).toBe(`"${token}"`);
  });

  it('refuses a longer one, also in the first of two members', () => {
    const long = withToken('x'.repeat(MAX_PROGRESS_TOKEN_LENGTH - 1));
    const error = expect.objectContaining({ kind: 'invalid-params', memoryLimit: 'progress-token' });
    expect(() => progressTokenOf(long)).toThrow(error);
    expect(() => progressTokenOf(`${long.slice(0, -1)},"_meta":{}}`)).toThrow(error);
  });
});

describe('withoutTask', () => {
  it.each([
    ['{"name":"a", "task":{"ttl":1.0}, "x":1.0}', '{"name":"a","x":1.0}'],
    ['{"task":null,"t\\u0061sk":{}}', '{}'],
    ['{"arguments":{"task":1},"_meta":{"task":1}}', '{"arguments":{"task":1},"_meta":{"task":1}}'],
    ['{"name":"\\u0041"}', '{"name":"\\u0041"}'],
    ['{}', '{}'],
  ])('removes the member from %s', (params, expected) => {
    expect(withoutTask(JSON.parse(params) as Record<string, unknown>, params)).toBe(expected);
  });
});
