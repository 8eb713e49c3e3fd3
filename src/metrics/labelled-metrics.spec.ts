import * as fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { LabelledCounter, DurationHistogram } from './labelled-metrics.js';
import { Histogram, Registry } from 'prom-client';

describe('LabelledCounter', () => {
  it('counts by label values', () => {
    const counter = new LabelledCounter('test_total', 'Help.', ['server_id', 'outcome']);
    counter.increment(['a', 'ok']);
    counter.increment(['a', 'ok']);
    counter.increment(['a', 'error']);
    counter.increment(['b', 'ok'], 5);
    expect([...counter.readings()]).toEqual([
      [{ server_id: 'a', outcome: 'ok' }, 2],
      [{ server_id: 'a', outcome: 'error' }, 1],
      [{ server_id: 'b', outcome: 'ok' }, 5],
    ]);
  });

  it('has its initial series with the value zero', () => {
    const counter = new LabelledCounter('test_total', 'Help.', ['reason'], [['stuck']]);
    expect([...counter.readings()]).toEqual([[{ reason: 'stuck' }, 0]]);
  });

  it('removes series that are not retained and starts them again at zero', () => {
    const counter = new LabelledCounter('test_total', 'Help.', ['server_id', 'outcome']);
    counter.increment(['gone', 'ok'], 3);
    counter.increment(['stays', 'ok']);
    counter.retain(([server]) => server === 'stays');
    expect([...counter.readings()]).toEqual([[{ server_id: 'stays', outcome: 'ok' }, 1]]);
    counter.increment(['gone', 'ok']);
    expect([...counter.readings()]).toContainEqual([{ server_id: 'gone', outcome: 'ok' }, 1]);
  });
});

const NAME = 'test_seconds';
const BOUNDS = [0.1, 0.5, 1];

const textOf = (register: (registry: Registry) => void): Promise<string> => {
  const registry = new Registry();
  register(registry);
  return registry.metrics();
};

describe('DurationHistogram', () => {
  it('exposes the same values as a prom-client histogram', async () => {
    const label = fc.constantFrom('a', 'b', 'quoted "c"');
    const seconds = fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constantFrom(...BOUNDS));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(label, seconds)), async (observations) => {
        const theirs = await textOf((registry) => {
          const labelNames = ['method'];
          const histogram = new Histogram({
            name: NAME,
            help: 'Help.',
            labelNames,
            buckets: BOUNDS,
            registers: [registry],
          });
          for (const [method, value] of observations) histogram.observe({ method }, value);
        });
        const ours = await textOf((registry) => {
          const durations = new DurationHistogram(NAME, 'Help.', BOUNDS);
          const observe = new Map<string, (seconds: number) => void>();
          for (const [method, value] of observations) {
            if (!observe.has(method)) observe.set(method, durations.observer({ method }));
            observe.get(method)!(value);
          }
          registry.registerMetric(durations as unknown as Histogram);
        });
        expect(ours).toBe(theirs);
      }),
    );
  });

  it('exposes no series without observations', async () => {
    const durations = new DurationHistogram(NAME, 'Help.', BOUNDS);
    durations.observer({ method: 'never' });
    expect((await durations.get()).values).toEqual([]);
  });
});
