import { describe, expect, it } from '@jest/globals';
import { membersOf } from '../lib/json-text/json-text.js';
import { envelopeMembers, withEnvelope, withoutEnvelope } from './envelope.js';
import { legacyParams, modernParams, splitOwnParams } from './split-params.js';

const MEMBERS = envelopeMembers({ name: 'gatehouse', version: '1' }, { sampling: {} });
const ENVELOPE = JSON.parse(`{${MEMBERS}}`) as object;

const split = (text: string): ReturnType<typeof splitOwnParams> =>
  splitOwnParams(text, 'name', 'own', membersOf(text));

describe('splitOwnParams', () => {
  it.each([
    [
      'at the end',
      '{"name":"fs__read","arguments":{"a":1.0},"_meta":{"b":2}}',
      '{"name":"own","arguments":{"a":1.0}',
    ],
    ['in the middle', '{"name":"a","_meta":{"b":2},"arguments":{}}', '{"name":"own","arguments":{}'],
    ['before the name', '{"arguments":{},"_meta":{"b":2},"name":"a"}', '{"arguments":{},"name":"own"'],
    [
      'amid white space',
      '{ "name" : "a" , "_meta" : {"b":2} , "arguments" : [] } ',
      '{ "name" : "own" , "arguments" : []',
    ],
    [
      'with a repeated name',
      '{"name":"a","n\\u0061me":"b","_meta":{"b":2}}',
      '{"name":"own","n\\u0061me":"own"',
    ],
  ])('takes out _meta %s', (_, text, open) => {
    expect(split(text)).toEqual({ open, meta: '{"b":2}' });
  });

  it.each([
    ['without _meta', '{"name":"a","arguments":{}}'],
    ['with _meta as the first member', '{"_meta":{},"name":"a"}'],
    ['with two _meta', '{"name":"a","_meta":{},"_meta":{}}'],
    ['with a similar key', '{"name":"a","Name":"b","_meta":{}}'],
    ['of a repeated request', '{"name":"a","requestState":"s","_meta":{}}'],
    ['with answers', '{"name":"a","inputResponses":{},"_meta":{}}'],
  ])('leaves params %s alone', (_, text) => {
    expect(split(text)).toBeUndefined();
  });
});

describe('params of which _meta was taken out', () => {
  const open = '{"name":"own","arguments":{"a":1.0}';

  it.each([
    [JSON.stringify(ENVELOPE), `${open}}`],
    [JSON.stringify({ ...ENVELOPE, trace: 1 }), `${open},"_meta":{"trace":1}}`],
  ])('with %s are for a server of 2025 as without the envelope', (meta, expected) => {
    expect(legacyParams({ open, meta })).toBe(expected);
    expect(legacyParams({ open, meta })).toBe(withoutEnvelope(`${open},"_meta":${meta}}`, undefined));
  });

  it.each([{}, ENVELOPE, { ...ENVELOPE, trace: 1, 'io.modelcontextprotocol/logLevel': 'info' }])(
    'with %j are for a server of 2026 as with the envelope of the gateway',
    (value) => {
      const meta = JSON.stringify(value);
      const envelope = { members: MEMBERS, logLevel: 'debug' as const };
      expect(modernParams({ open, meta }, envelope)).toBe(withEnvelope(`${open},"_meta":${meta}}`, envelope));
    },
  );
});
