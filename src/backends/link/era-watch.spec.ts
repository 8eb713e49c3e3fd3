import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { FakeLink } from '../../../test/kit/fake-link.js';
import { flushPromises } from '../../../test/kit/promises.js';
import type { Era } from '../../core/errors.js';
import { MAX_VERDICT_AGE_MS } from './era-record.js';
import { watchEra } from './era-watch.js';

class WatchedLink extends FakeLink {
  expired = 0;
  /** Resolves with whether a gap would be reported. */
  lostStream: (() => Promise<boolean>) | undefined;

  expire(): void {
    this.expired++;
  }

  checkGaps(check: () => Promise<boolean>): void {
    this.lostStream = check;
  }
}

function watch(verdicts: (Era | undefined | Error)[], era: Era = '2025', atIntervals = true) {
  const link = new WatchedLink();
  link.era = { name: era, since: 0 };
  let probes = 0;
  const probe = (): Promise<Era | undefined> => {
    const verdict = verdicts[probes++];
    return verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
  };
  watchEra(link, probe, { atIntervals });
  return { link, probes: () => probes };
}

describe('watchEra', () => {
  afterEach(() => void jest.useRealTimers());

  it('expires the link when a server of 2025 offers 2026 at a later probe', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const { link, probes } = watch([undefined, new Error('down'), '2026']);
    for (const [expectedProbes, expired] of [
      [1, 0],
      [2, 0],
      [3, 1],
    ]) {
      jest.advanceTimersByTime(MAX_VERDICT_AGE_MS);
      await flushPromises();
      expect([probes(), link.expired]).toEqual([expectedProbes, expired]);
    }
    await link.close();
  });

  it('probes when notifications may have been lost', async () => {
    const { link } = watch([undefined, '2025', '2026']);
    expect([await link.lostStream!(), await link.lostStream!(), link.expired]).toEqual([true, true, 0]);
    // The next link begins anew. Another gap would send the same updates to clients twice.
    expect([await link.lostStream!(), link.expired]).toEqual([false, 1]);
    await link.close();
  });

  it('probes once at a time', async () => {
    const { link, probes } = watch([undefined, undefined]);
    expect(await Promise.all([link.lostStream!(), link.lostStream!()])).toEqual([true, true]);
    expect(probes()).toBe(1);
    await link.close();
  });

  it('probes for a link that is not shared only when notifications may have been lost', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const { link, probes } = watch(['2026'], '2025', false);
    jest.advanceTimersByTime(2 * MAX_VERDICT_AGE_MS);
    expect(probes()).toBe(0);
    expect([await link.lostStream!(), link.expired]).toEqual([false, 1]);
    await link.close();
  });

  it('does not probe after the link has closed', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    const { link, probes } = watch(['2026']);
    await link.close();
    await flushPromises();
    jest.advanceTimersByTime(2 * MAX_VERDICT_AGE_MS);
    expect(probes()).toBe(0);
  });

  it('aborts a probe when the link closes, and does not expire the closed link', async () => {
    const link = new WatchedLink();
    const signals: AbortSignal[] = [];
    let answer!: (era: Era) => void;
    const probe = (signal: AbortSignal): Promise<Era> => {
      signals.push(signal);
      return new Promise((resolve) => (answer = resolve));
    };
    watchEra(link, probe, { atIntervals: true });
    const isReported = link.lostStream!();
    await link.close();
    await flushPromises();
    answer('2026');
    expect(await isReported).toBe(false);
    expect([signals.map(({ aborted }) => aborted), link.expired]).toEqual([[true], 0]);
  });

  it('does not probe a server of 2026', async () => {
    const { link, probes } = watch(['2026'], '2026');
    expect([link.lostStream, probes()]).toEqual([undefined, 0]);
    await link.close();
  });
});
