import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonText, membersOf } from '../lib/json-text/json-text.js';
import {
  aroundSubscriptionId,
  claimedVersion,
  claimsEnvelope,
  envelopeMembers,
  lacksProgressToken,
  MODERN_VERSION,
  readEnvelope,
  serverInfoIn,
  withEnvelope,
  withoutEnvelope,
  withoutModernMembers,
  withoutSubscriptionId,
} from './envelope.js';

const INFO = { name: 'gatehouse', version: '1' };
const MEMBERS = envelopeMembers(INFO, { sampling: {} });
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
};
const sent = (params: string | undefined, more: object = {}): unknown =>
  JSON.parse(withEnvelope(params, { members: MEMBERS, ...more }));

describe('lacksProgressToken', () => {
  it.each([
    ['no token', '{"_meta":{"a":"progressToken"}}', true],
    ['a token beside _meta', '{"progressToken":1,"_meta":{}}', true],
    ['a token', '{"_meta":{"progressToken":5}}', false],
    ['a token that is null', '{"_meta":{"progressToken":null}}', false],
    ['a token under an escaped key', '{"_meta":{"progress\\u0054oken":5}}', false],
    ['a token in the first of two _meta', '{"_meta":{"progressToken":1},"_meta":{}}', false],
    [
      'a token in a _meta before one with an escaped key',
      '{"_meta":{"progressToken":1},"\\u005fmeta":{}}',
      false,
    ],
  ])('of params with %s', (_what, text, lacks) => {
    const params = JSON.parse(text) as Record<string, unknown>;
    expect(lacksProgressToken(params, membersOf(text))).toBe(lacks);
  });

  it('is false if the positions of the members are not known', () => {
    expect(lacksProgressToken({ _meta: {} }, undefined)).toBe(false);
  });
});

describe('envelopeMembers', () => {
  it('declare only capabilities that the gateway forwards', () => {
    const ui = { mimeTypes: ['text/html;profile=mcp-app'] };
    const members = envelopeMembers(INFO, {
      roots: { listChanged: true },
      elicitation: { form: {}, url: {} },
      experimental: { x: {} },
      tasks: {},
      extensions: { 'io.modelcontextprotocol/ui': ui, 'io.modelcontextprotocol/tasks': {} },
    });
    expect(JSON.parse(`{${members}}`)).toEqual({
      ...ENVELOPE,
      'io.modelcontextprotocol/clientCapabilities': {
        roots: {},
        elicitation: { form: {}, url: {} },
        extensions: { 'io.modelcontextprotocol/ui': ui },
      },
    });
  });
});

describe('withEnvelope', () => {
  it.each([undefined, '{}', '{ }'])('adds `_meta` to %j', (params) => {
    expect(sent(params)).toEqual({ _meta: ENVELOPE });
  });

  it('adds log level and progress token', () => {
    expect(sent('{"name":"a"}', { logLevel: 'info', progressToken: 7 })).toEqual({
      name: 'a',
      _meta: { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'info', progressToken: 7 },
    });
  });

  it('keeps what else the client wrote in `_meta`', () => {
    expect(sent('{"_meta":{"traceparent":"00-1","x":{"y":1.0}},"name":"a"}')).toEqual({
      name: 'a',
      _meta: { ...ENVELOPE, traceparent: '00-1', x: { y: 1 } },
    });
  });

  it.each([
    '{"_meta":{"io.modelcontextprotocol/protocolVersion":"1"}}',
    '{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}',
    '{"_meta":{"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/subscriptionId":1}}',
    '{"\\u005fmeta":{"io.modelcontextprotocol/clientInf\\u006f":{}}}',
    '{"_meta":{"progressToken":"of the client"}}',
    '{"_meta":null}',
    '{"_meta":[]}',
  ])('replaces the members of the hop in %s', (params) => {
    expect(sent(params)).toEqual({ _meta: ENVELOPE });
  });

  it('replaces the members of the hop in each of repeated `_meta` members', () => {
    const key = 'io.modelcontextprotocol/protocolVersion';
    const text = withEnvelope(`{"_meta":{"${key}":"1"},"_meta":{"${key}":"2"}}`, { members: MEMBERS });
    const metas = membersOf(text).map(({ start, end }) => JSON.parse(text.slice(start, end)) as unknown);
    expect(metas).toEqual([ENVELOPE, ENVELOPE]);
  });

  it('changes nothing but `_meta`', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (params, hasMembers) => {
        const text = JSON.stringify({ ...params, _meta: undefined });
        const members = hasMembers ? membersOf(text) : undefined;
        const result = JSON.parse(withEnvelope(text, { members: MEMBERS }, members)) as object;
        expect(result).toEqual({ ...(JSON.parse(text) as object), _meta: ENVELOPE });
      }),
    );
  });
});

describe('serverInfoIn', () => {
  it('finds name and version in `_meta` of a result', () => {
    expect(serverInfoIn({ 'io.modelcontextprotocol/serverInfo': INFO })).toEqual(INFO);
  });

  it.each([undefined, null, {}, { 'io.modelcontextprotocol/serverInfo': { name: 1 } }])(
    'finds nothing in %j',
    (meta) => {
      expect(serverInfoIn(meta)).toBeUndefined();
    },
  );
});

const ID = 'io.modelcontextprotocol/subscriptionId';
const marked = (params: string | undefined): unknown => JSON.parse(aroundSubscriptionId(params).join('7'));

describe('aroundSubscriptionId', () => {
  it.each([
    [undefined, {}],
    ['{}', {}],
    [' { } '.trim(), {}],
    ['{"uri":"x"}', { uri: 'x' }],
    ['{ "uri" : "x" , "_meta":{"a":1}}', { uri: 'x', a: 1 }],
    ['{"_meta":{},"uri":"x"}', { uri: 'x' }],
    ['{"_meta":null}', {}],
    ['{"_meta":[1]}', {}],
    [`{"_meta":{"${ID}":3,"a":1}}`, { a: 1 }],
    [`{"\\u005fmeta":{"io.modelcontextprotocol/subscription\\u0049d":3}}`, {}],
    ['{"_meta":{"progressToken":1}}', {}],
  ])(
    'adds the id to %s, without the members of another hop',
    (params, { uri, a }: { uri?: string; a?: number }) => {
      expect(marked(params)).toEqual({
        _meta: { [ID]: 7, ...(a !== undefined && { a }) },
        ...(uri !== undefined && { uri }),
      });
    },
  );

  it('removes each of repeated `_meta` members', () => {
    const text = aroundSubscriptionId(`{"_meta":{"${ID}":1},"uri":"x","_meta":{"${ID}":2}}`).join('7');
    expect(membersOf(text).map(({ key }) => key)).toEqual(['_meta', 'uri']);
    expect(text).not.toContain('2');
  });

  it('changes nothing but `_meta`', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (params) => {
        const text = JSON.stringify({ ...params, _meta: undefined });
        expect(marked(text)).toEqual({ ...(JSON.parse(text) as object), _meta: { [ID]: 7 } });
      }),
    );
  });
});

const KEY = 'io.modelcontextprotocol/';
const paramsWith = (meta: object): Record<string, unknown> => ({
  _meta: Object.fromEntries(Object.entries(meta).map(([key, value]) => [`${KEY}${key}`, value])),
});
const read = (params: Record<string, unknown>): unknown => readEnvelope(params, JSON.stringify(params));

const valid = { protocolVersion: MODERN_VERSION, clientCapabilities: {} };
const paramsOfLength = (length: number): Record<string, unknown> =>
  paramsWith({ ...valid, clientCapabilities: { experimental: { x: { y: 'x'.repeat(length) } } } });

describe('readEnvelope', () => {
  it('returns what the client says of itself', () => {
    expect(read(paramsWith({ ...valid, clientInfo: INFO, logLevel: 'debug' }))).toEqual({
      version: MODERN_VERSION,
      capabilities: {},
      clientInfo: INFO,
      logLevel: 'debug',
    });
    expect(read(paramsWith(valid))).toMatchObject({ clientInfo: undefined, logLevel: undefined });
  });

  it.each<object>([
    { clientCapabilities: {} },
    { ...valid, protocolVersion: 20260728 },
    { protocolVersion: MODERN_VERSION },
    { ...valid, clientCapabilities: [] },
    { ...valid, clientCapabilities: null },
    { ...valid, clientInfo: { name: 'x' } },
    { ...valid, clientInfo: 'x' },
    { ...valid, logLevel: 'verbose' },
    { ...valid, logLevel: null },
  ])('refuses %j', (meta) => {
    expect(() => read(paramsWith(meta))).toThrow(expect.objectContaining({ kind: 'bad-envelope' }));
  });

  it('refuses a profile that takes more than 16 KB, which is stored while the request runs', () => {
    expect(() => read(paramsOfLength(16_000))).not.toThrow();
    const tooLarge = { kind: 'bad-envelope', memoryLimit: 'client-profile' };
    expect(() => read(paramsOfLength(16_384))).toThrow(expect.objectContaining(tooLarge));
    const { _meta: meta } = paramsOfLength(16_384);
    const escaped = `{"_meta":${JSON.stringify(meta).replace('client', 'c\\u006cient')}}`;
    expect(() => readEnvelope(paramsWith(valid), escaped)).toThrow(expect.objectContaining(tooLarge));
  });
});

describe('claimsEnvelope', () => {
  it.each<[boolean, Record<string, unknown> | undefined]>([
    [true, paramsWith({ protocolVersion: MODERN_VERSION })],
    [true, paramsWith({ protocolVersion: '2025-11-25' })],
    [true, paramsWith({ protocolVersion: null })],
    [false, paramsWith({ clientCapabilities: {} })],
    [false, { _meta: [] }],
    [false, {}],
    [false, undefined],
  ])('is %s for %j', (claims, params) => {
    expect(claimsEnvelope(params)).toBe(claims);
  });

  it('says which version is claimed, if it is a text', () => {
    expect(claimedVersion(paramsWith({ protocolVersion: '2025-11-25' }))).toBe('2025-11-25');
    expect(claimedVersion(paramsWith({ protocolVersion: 1 }))).toBeUndefined();
  });
});

describe('withoutEnvelope', () => {
  const meta = JSON.stringify({ ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'info', trace: 1 });

  it.each([
    [`{"name":"a","_meta":${meta}}`, undefined, '{"name":"a","_meta":{"trace":1}}'],
    [`{"name":"a","_meta":${meta}}`, 7, '{"name":"a","_meta":{"progressToken":7,"trace":1}}'],
    ['{"_meta":{"progressToken":"own"},"n":1.0}', undefined, '{"n":1.0}'],
    ['{"_meta":{"progressToken":"own"}}', 7, '{"_meta":{"progressToken":7}}'],
    [
      `{"_meta":${meta},"_meta":{"progressToken":1}}`,
      7,
      '{"_meta":{"progressToken":7,"trace":1},"_meta":{"progressToken":7}}',
    ],
    ['{"name":"a","inputResponses":{"q":{}},"requestState":"s"}', undefined, '{"name":"a"}'],
    ['{"arguments":{"requestState":"kept"}}', undefined, '{"arguments":{"requestState":"kept"}}'],
    ['{}', undefined, '{}'],
  ])('of %s with token %j', (params, token, expected) => {
    expect(withoutEnvelope(params, token)).toBe(expected);
    expect(withoutEnvelope(params, token, membersOf(params))).toBe(expected);
  });
});

describe('withoutModernMembers', () => {
  it.each([
    ['{"resultType":"input_required","content":[]}', '{"content":[]}'],
    ['{"ttlMs":5,"cacheScope":"public","n":1.0}', '{"n":1.0}'],
    ['{"n":1.0,"result\\u0054ype":"input_required"}', '{"n":1.0}'],
    ['{"content":[{"resultType":"x"}]}', '{"content":[{"resultType":"x"}]}'],
  ])('of %s is %s', (result, expected) => {
    expect(withoutModernMembers(new JsonText(result)).text).toBe(expected);
  });
});

describe('withoutSubscriptionId', () => {
  const ID_KEY = '"io.modelcontextprotocol/subscriptionId"';

  it.each([
    [`{"uri":"x","_meta":{${ID_KEY}:"listen:0"}}`, '{"uri":"x"}'],
    [`{"_meta":{${ID_KEY}:7,"own":1.0},"uri":"x"}`, '{"_meta":{"own":1.0},"uri":"x"}'],
    ['{"uri":"x","_meta":{"own":1.0}}', '{"uri":"x","_meta":{"own":1.0}}'],
    [`{"uri":"x","note":${JSON.stringify(ID_KEY)}}`, `{"uri":"x","note":${JSON.stringify(ID_KEY)}}`],
    [`{"_meta":{${ID_KEY}:1},"_meta":{${ID_KEY}:2},"uri":"x"}`, '{"uri":"x"}'],
  ])('of %s is %s', (params, expected) => {
    expect(withoutSubscriptionId(params)).toBe(expected);
  });
});
