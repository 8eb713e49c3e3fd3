import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Registry } from 'prom-client';
import { recordLog } from '../../test/kit/log-lines.js';
import { outcomeOf } from '../../test/kit/promises.js';
import { HttpSettings } from '../config/http-settings.js';
import { ClientAddresses, type PeerRequest } from '../edge/client-addresses.js';
import { Metrics } from '../metrics/metrics.js';
import { FailedTokens } from './failed-tokens.js';

const from = (remoteAddress: string, forwardedFor?: string): PeerRequest => ({
  socket: { remoteAddress },
  headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
});

describe('FailedTokens', () => {
  let registry: Registry;
  let failed: FailedTokens;
  let lines: string[];

  beforeEach(() => {
    lines = recordLog();
    registry = new Registry();
    const settings = Object.assign(new HttpSettings(), { trustedProxies: ['10.0.0.1'] });
    failed = new FailedTokens(new Metrics(registry), new ClientAddresses(settings));
  });
  afterEach(() => void jest.useRealTimers());

  async function failOften(times: number, address = '192.0.2.1'): Promise<number> {
    let pending = 0;
    for (let n = 0; n < times; n++) {
      const outcome = outcomeOf(failed.recordFailure(from(address), 0).then(() => true));
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
      if (outcome.value === undefined) pending++;
    }
    return pending;
  }

  it('answers the first failures of an address at once and delays the next ones', async () => {
    expect(await failOften(20)).toBe(0);
    expect(await failOften(3)).toBe(3);
    const metrics = await registry.metrics();
    expect(metrics).toContain('gatehouse_admin_auth_failures_total{outcome="answered"} 20');
    expect(metrics).toContain('gatehouse_admin_auth_failures_total{outcome="delayed"} 3');
  });

  it('does not delay failures of other addresses', async () => {
    await failOften(25);
    expect(await failOften(1, '192.0.2.2')).toBe(0);
    expect(failed.allowsAttempt(from('192.0.2.2'))).toBe(true);
  });

  it('refuses attempts of an address with many delayed failures, and no others', async () => {
    await failOften(35);
    expect(failed.allowsAttempt(from('192.0.2.1'))).toBe(true);
    await failOften(1);
    expect(failed.allowsAttempt(from('192.0.2.1'))).toBe(false);
    expect(failed.allowsAttempt(from('192.0.2.2'))).toBe(true);
    expect(await registry.metrics()).toContain('{outcome="refused"} 1');
  });

  it('delays at most 1,000 failures of all addresses at the same time', async () => {
    for (let n = 0; n < 62; n++) expect(await failOften(36, `192.0.2.${n}`)).toBe(16);
    expect(await failOften(36, '198.51.100.1')).toBe(8);
    expect(await registry.metrics()).toContain('{outcome="delayed"} 1000\n');
  });

  const allowedAt = (now: number): boolean[] =>
    ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((address) =>
      failed.allowsAttempt(from(address), now),
    );

  it('refuses attempts of every address whose answer would be delayed, while 1,000 are', async () => {
    await failOften(19, '198.51.100.1');
    await failOften(20, '198.51.100.2');
    expect(allowedAt(0)).toEqual([true, true, true]);
    for (let n = 0; n < 63; n++) await failOften(36, `192.0.2.${n}`);
    expect(allowedAt(0)).toEqual([true, false, true]);
    expect(allowedAt(1000)).toEqual([true, true, true]);
    expect(await registry.metrics()).toContain('{outcome="refused"} 1\n');
  });

  it('forgets one failure per second', async () => {
    await failOften(20);
    const later = outcomeOf(failed.recordFailure(from('192.0.2.1'), 1000).then(() => true));
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
    expect(later.value).toBe(true);
  });

  it('counts the addresses of one IPv6 network together, and at most 10,000 networks', async () => {
    await failOften(1, '2001:db8:1:2::1');
    await failOften(1, '2001:db8:1:2:3:4:5:6');
    expect(failed.addressCount).toBe(1);
    for (let n = 0; n < 10_050; n++)
      await failed.recordFailure(from(`10.1${n >> 16}.${(n >> 8) & 255}.${n & 255}`), 0);
    expect(failed.addressCount).toBe(10_000);
  });

  it('counts the clients of a trusted proxy separately', async () => {
    const client = from('10.0.0.1', '192.0.2.1');
    for (let n = 0; n < 36; n++) void failed.recordFailure(client, 0);
    expect(failed.allowsAttempt(client)).toBe(false);
    expect(failed.allowsAttempt(from('10.0.0.1', '192.0.2.2'))).toBe(true);
    expect(failed.allowsAttempt(from('192.0.2.1', '192.0.2.9'))).toBe(false);
  });

  it('logs many failures in one line', async () => {
    await failOften(30);
    expect(lines).toHaveLength(1);
  });
});
