import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { membersOf } from '../lib/json-text/json-text.js';
import { envelopeMembers, MODERN_VERSION, serverInfoIn, withEnvelope } from './envelope.js';

const INFO = { name: 'gatehouse', version: '1' };
const MEMBERS = envelopeMembers(INFO, { sampling: {} });
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
};
const sent = (params: string | undefined, more: object = {}): unknown =>
  JSON.parse(withEnvelope(params, { members: MEMBERS, ...more }));

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
