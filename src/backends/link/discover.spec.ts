import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../../test/kit/promises.js';
import { GatewayError, RemoteError } from '../../core/errors.js';
import { JsonText } from '../../lib/json-text/json-text.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { discoverServer, eraOfFailure, offersModern } from './discover.js';
import { MAX_RESULT_BYTES, MAX_RESULT_MEMBERS, type OnMemoryLimit } from './handshake-result.js';
import { TransportError } from './transport.js';

const RESULT = { supportedVersions: [MODERN_VERSION], capabilities: { tools: {} } };
const discover = (result: object, onLimit?: OnMemoryLimit) =>
  discoverServer(() => Promise.resolve(JsonText.of(result)), 1000, onLimit);
const remote = (code: number, data?: object): RemoteError =>
  new RemoteError(code, 'no', JSON.stringify({ code, message: 'no', data }));
const refused = (httpStatus: number): TransportError =>
  new TransportError('refused', `HTTP ${httpStatus}`, { httpStatus });

describe('discoverServer', () => {
  it('returns how the server describes itself', async () => {
    const serverInfo = { name: 'files', version: '2' };
    const meta = { 'io.modelcontextprotocol/serverInfo': serverInfo };
    expect(await discover({ ...RESULT, instructions: 'read first', _meta: meta })).toEqual({
      protocolVersion: MODERN_VERSION,
      capabilities: { tools: {} },
      serverInfo,
      instructions: 'read first',
    });
  });

  it('accepts a server that does not say its name', async () => {
    expect((await discover(RESULT)).serverInfo).toEqual({ name: 'unknown', version: 'unknown' });
  });

  it.each([
    [['2024-11-05', MODERN_VERSION, '2025-06-18'], '2025-06-18'],
    [[MODERN_VERSION, '2025-01-01', 7], undefined],
  ])('returns of the versions %j the newest of 2025: %s', async (supportedVersions, expected) => {
    expect((await discover({ ...RESULT, supportedVersions })).alsoOffers).toBe(expected);
  });

  it('accepts a server whose instructions are no text, without them', async () => {
    expect(await discover({ ...RESULT, instructions: { text: 'read first' } })).not.toHaveProperty(
      'instructions',
    );
  });

  it.each([
    {},
    { supportedVersions: ['2025-11-25'], capabilities: {} },
    { supportedVersions: MODERN_VERSION, capabilities: {} },
    { supportedVersions: [MODERN_VERSION] },
    { supportedVersions: [MODERN_VERSION], capabilities: [] },
    { tools: [] },
  ])('refuses %j', async (result) => {
    const error = await refusalOf(discover(result));
    expect(error.message).toBe('the server does not offer MCP revision 2026-07-28');
    expect(eraOfFailure(error)).toBe('2025');
  });

  it('refuses a result that is too long to keep', async () => {
    const limits: string[] = [];
    const error = await refusalOf(
      discover({ ...RESULT, instructions: 'x'.repeat(MAX_RESULT_BYTES) }, (limit) => void limits.push(limit)),
    );
    expect(error).toMatchObject({ fault: 'too-large' });
    expect(limits).toEqual(['handshake-result']);
  });

  it('refuses a result with too many members to parse at once', async () => {
    const experimental = { x: Array.from({ length: MAX_RESULT_MEMBERS }, () => ({ a: 1 })) };
    const error = await refusalOf(discover({ ...RESULT, capabilities: { experimental } }));
    expect(error).toMatchObject({
      fault: 'too-large',
      message: 'the result of server/discover has more than 10000 members and elements',
    });
  });
});

describe('eraOfFailure', () => {
  it.each([
    ['an unknown method', remote(-32601)],
    ['a missing session', remote(-32000)],
    ['an invalid request', remote(-32600)],
    ['an unsupported revision without a list', remote(-32022)],
    ['an unsupported revision, and only others supported', remote(-32022, { supported: ['2025-11-25'] })],
    ['HTTP 400', refused(400)],
    ['HTTP 404', refused(404)],
    ['HTTP 405', refused(405)],
    ['HTTP 302', refused(302)],
  ])('is 2025 after %s', (_, error) => {
    expect(eraOfFailure(error)).toBe('2025');
  });

  it('is 2026 after an unsupported revision if the list of supported ones has it', () => {
    expect(eraOfFailure(remote(-32022, { supported: [MODERN_VERSION] }))).toBe('2026');
  });

  it.each([
    ...[401, 403, 407, 408, 425, 429, 500, 502, 503, 504].map((status) => refused(status)),
    new TransportError('unreachable', 'cannot connect'),
    new TransportError('broken', 'the connection was lost'),
    new TransportError('too-large', 'too large'),
    new GatewayError('timeout', 'no answer'),
  ])('is not known after $message', (error) => {
    expect(eraOfFailure(error)).toBeUndefined();
  });
});

describe('offersModern', () => {
  it.each([
    [remote(-32022, { supported: [MODERN_VERSION] }), true],
    [remote(-32022, { supported: ['2027-01-01'] }), false],
    [remote(-32022, { supported: MODERN_VERSION }), false],
    [remote(-32602, { supported: [MODERN_VERSION] }), false],
    [new Error(MODERN_VERSION), false],
  ])('of %o is %s', (error, expected) => {
    expect(offersModern(error)).toBe(expected);
  });
});
