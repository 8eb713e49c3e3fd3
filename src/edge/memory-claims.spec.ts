import { describe, expect, it, jest } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { postMessage, RawSession } from '../../test/kit/raw-session.js';
import { deferred, until, within } from '../../test/kit/until.js';
import { LONG_PARAMS_LIMITS, MemoryClaims, REQUEST_BODY_LIMITS } from './memory-claims.js';

const { perPrincipal } = LONG_PARAMS_LIMITS;
const QUARTER = perPrincipal / 4;

describe('MemoryClaims', () => {
  it('refuses params beyond the limit of a principal until a request of it is answered', () => {
    const params = new MemoryClaims(LONG_PARAMS_LIMITS);
    const releases = Array.from({ length: 4 }, () => params.claim('a', QUARTER));
    expect(() => params.claim('a', 1)).toThrow('LimitExceeded: this principal may have at most');
    params.claim('b', QUARTER);
    releases[0]!();
    params.claim('a', QUARTER);
  });

  it('accepts one request of any length', () => {
    const params = new MemoryClaims(LONG_PARAMS_LIMITS);
    params.claim('a', 2 * perPrincipal);
    expect(() => params.claim('a', 1)).toThrow('LimitExceeded');
  });

  it('refuses further params of a principal beyond the limit of all, and the first of none', () => {
    const params = new MemoryClaims(LONG_PARAMS_LIMITS);
    for (let n = 0; n < 5; n++) params.claim(`a${n}`, perPrincipal - 1);
    expect(() => params.claim('a0', 1)).toThrow('LimitExceeded: all clients may have at most');
    params.claim('b', 1);
  });
});

describe('requests with long bodies', () => {
  const longCall = { jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(200_000) } };

  it('are refused and counted while too many of their principal are being received', async () => {
    const edge = new EdgeHarness();
    await edge.listen();
    onCleanup(() => edge.close());
    const session = await RawSession.open(edge.url);
    const [{ quotaKey } = { quotaKey: '' }] = edge.sessions.all();
    // In place of many connections.
    const { claims } = edge.bodies as unknown as { claims: MemoryClaims };
    const release = claims.claim(quotaKey, REQUEST_BODY_LIMITS.perPrincipal - 100_000);
    const refused = await session.post(longCall);
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([
      200,
      { error: { code: -31029, data: { code: 'LimitExceeded', limit: REQUEST_BODY_LIMITS.perPrincipal } } },
    ]);
    expect(await edge.metrics.text()).toContain('gatehouse_memory_limits_total{limit="request-bodies"} 1\n');
    expect((await session.request('ping', { text: 'short' })).result).toEqual({});
    release();
    for (let n = 0; n < 2; n++) expect((await session.request('ping', longCall.params)).result).toEqual({});
    expect(claims.claim(quotaKey, 2 * REQUEST_BODY_LIMITS.perPrincipal)).toBeDefined();
  });

  it('are refused before they are decoded if they initialize a session', async () => {
    const edge = new EdgeHarness();
    await edge.listen();
    onCleanup(() => edge.close());
    const capabilities = { experimental: { x: { y: 'x'.repeat(200_000) } } };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'n', version: '1' } };
    const initialize = jest.spyOn(edge.receiver, 'initialize');
    const response = await postMessage(edge.url, { jsonrpc: '2.0', id: 7, method: 'initialize', params });
    expect(JSON.parse(response.text)).toMatchObject({
      id: 7,
      error: { code: -32602, data: { limit: 16_384 } },
    });
    expect(await edge.metrics.text()).toContain('gatehouse_memory_limits_total{limit="client-profile"} 1\n');
    expect(initialize).not.toHaveBeenCalled();
  });
});

describe('requests with long params', () => {
  it('are refused and counted while too many of their principal are in flight', async () => {
    const edge = new EdgeHarness();
    await edge.listen();
    onCleanup(() => edge.close());
    const end = deferred<object>();
    edge.handlers.set('slow', () => end.promise);
    const session = await RawSession.open(edge.url);
    const other = await RawSession.open(edge.url);
    const [{ quotaKey } = { quotaKey: '' }] = edge.sessions.all();
    // In place of hundreds of requests.
    const { longParams } = edge.runner as unknown as { longParams: MemoryClaims };
    longParams.claim(quotaKey, perPrincipal - 60_000);
    const params = { text: 'x'.repeat(40_000) };
    const running = session.request('slow', params);
    await until('the request is in flight', () => edge.receiver.inFlight.size === 1);
    expect((await other.request('slow', params)).error).toMatchObject({
      code: -31029,
      data: { code: 'LimitExceeded', limit: perPrincipal },
    });
    expect((await other.request('ping', { text: 'short' })).result).toEqual({});
    const metrics = await edge.metrics.text();
    expect(metrics).toContain('gatehouse_memory_limits_total{limit="long-params"} 1\n');
    expect(metrics).toContain('gatehouse_limit_refusals_total{limit="inFlightPerSession"} 0\n');
    end.resolve({});
    await within('the answer', running);
    expect((await other.request('slow', params)).result).toEqual({});
  });
});
