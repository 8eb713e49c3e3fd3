import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Histogram, Registry } from 'prom-client';
import { Durations } from './durations.js';

const NAME = 'test_seconds';
const BOUNDS = [0.1, 0.5, 1];

const textOf = (register: (registry: Registry) => void): Promise<string> => {
  const registry = new Registry();
  register(registry);
  return registry.metrics();
};

describe('Durations', () => {
  it("says what Prometheus's own histogram says of the same observations", async () => {
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
          const durations = new Durations(NAME, 'Help.', BOUNDS);
          const observe = new Map<string, (seconds: number) => void>();
          for (const [method, value] of observations) {
            if (!observe.has(method)) observe.set(method, durations.under({ method }));
            observe.get(method)!(value);
          }
          registry.registerMetric(durations as unknown as Histogram);
        });
        expect(ours).toBe(theirs);
      }),
    );
  });

  it('shows nothing of labels that were never observed', async () => {
    const durations = new Durations(NAME, 'Help.', BOUNDS);
    durations.under({ method: 'never' });
    expect((await durations.get()).values).toEqual([]);
  });
});
