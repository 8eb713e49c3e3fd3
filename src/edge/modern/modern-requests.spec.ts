import { describe, expect, it } from '@jest/globals';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Limits } from '../../config/limits.js';
import { Metrics } from '../../metrics/metrics.js';
import { MemoryQuotas } from '../../state/memory-quotas.js';
import { InFlightRequests } from '../in-flight-requests.js';
import type { LogMessages } from '../log-messages.js';
import type { RequestRunner } from '../request-runner.js';
import type { Sessions } from '../sessions.service.js';
import type { ModernRequest } from './modern-request.js';
import { ModernRequests } from './modern-requests.js';

const KILOBYTE = 1024;
/** Collects the young generation only. */
const collectYoung = (() => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void;
  return () => collect({ type: 'minor' });
})();

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')!.space_used_size;

function modernRequests(limit = Infinity) {
  const inFlight = new InFlightRequests();
  const metrics = new Metrics();
  const requests = new ModernRequests(
    Object.assign(new Limits(), { requestsPerPrincipal: limit }),
    new MemoryQuotas(),
    metrics,
    {} as Sessions,
    { inFlight } as unknown as RequestRunner,
    {} as LogMessages,
  );
  return { requests, inFlight, metrics };
}

const request = (): ModernRequest =>
  ({
    quotaKey: 'alice',
    leaveInFlight: () => undefined,
    body: Array.from({ length: KILOBYTE / 8 }, () => 0),
  }) as unknown as ModernRequest;

describe('ModernRequests', () => {
  it('counts a request until its end, and once', async () => {
    const { requests, inFlight, metrics } = modernRequests(1);
    const first = request();
    const end = requests.begin(first);
    expect([...requests.all]).toEqual([first]);
    expect(() => requests.begin(request())).toThrow(expect.objectContaining({ kind: 'limit-exceeded' }));
    end();
    first.leaveInFlight();
    expect([requests.size, inFlight.size]).toEqual([0, 0]);
    requests.begin(request())();
    expect(await metrics.text()).toContain('gatehouse_limit_refusals_total{limit="requestsPerPrincipal"} 1');
  });

  it.each([32, 300])('keeps no request that has ended, with %i in flight', (inFlight) => {
    const { requests } = modernRequests();
    const ends: (() => void)[] = [];
    const run = (count: number): void => {
      for (let n = 0; n < count; n++) {
        ends.push(requests.begin(request()));
        if (ends.length > inFlight) ends.shift()!();
        if (n % 400 === 0) collectYoung();
      }
    };
    run(2000);
    const before = oldBytes();
    run(20_000);
    expect(oldBytes() - before).toBeLessThan(2000 * KILOBYTE);
  });
});
