import { describe, expect, it } from '@jest/globals';
import { onCleanup } from '../../test/kit/cleanup.js';
import { EdgeHarness } from '../../test/kit/edge-harness.js';
import { RawSession } from '../../test/kit/raw-session.js';
import { deferred, until, within } from '../../test/kit/until.js';
import { LongParams, MAX_LONG_PARAMS_PER_PRINCIPAL } from './long-params.js';

const QUARTER = MAX_LONG_PARAMS_PER_PRINCIPAL / 4;

describe('LongParams', () => {
  it('refuses params beyond the limit of a principal until a request of it is answered', () => {
    const params = new LongParams();
    const releases = Array.from({ length: 4 }, () => params.claim('a', QUARTER));
    expect(() => params.claim('a', 1)).toThrow('LimitExceeded: unfinished requests of this principal have');
    params.claim('b', QUARTER);
    releases[0]!();
    params.claim('a', QUARTER);
  });

  it('accepts one request of any length', () => {
    const params = new LongParams();
    params.claim('a', 2 * MAX_LONG_PARAMS_PER_PRINCIPAL);
    expect(() => params.claim('a', 1)).toThrow('LimitExceeded');
  });

  it('refuses further params of a principal beyond the limit of all, and the first of none', () => {
    const params = new LongParams();
    for (let n = 0; n < 5; n++) params.claim(`a${n}`, MAX_LONG_PARAMS_PER_PRINCIPAL - 1);
    expect(() => params.claim('a0', 1)).toThrow('LimitExceeded: unfinished requests of all clients have');
    params.claim('b', 1);
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
    const { longParams } = edge.receiver as unknown as { longParams: LongParams };
    longParams.claim(quotaKey, MAX_LONG_PARAMS_PER_PRINCIPAL - 60_000);
    const params = { text: 'x'.repeat(40_000) };
    const running = session.request('slow', params);
    await until('the request is in flight', () => edge.receiver.inFlight === 1);
    expect((await other.request('slow', params)).error).toMatchObject({
      code: -31029,
      data: { code: 'LimitExceeded', limit: MAX_LONG_PARAMS_PER_PRINCIPAL },
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
