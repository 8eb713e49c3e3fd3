import { getHeapStatistics } from 'node:v8';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { describe, expect, it, jest } from '@jest/globals';
import type { SecretRedactor } from '../admin/secret-redactor.js';
import type { Backends } from '../backends/backends.service.js';
import type { ConfigReloader } from '../config/config-reloader.js';
import type { EventLoopDelay } from './event-loop-delay.js';

const heap = { ...getHeapStatistics() };
jest.unstable_mockModule('node:v8', () => ({ getHeapStatistics: () => heap }));
const { HealthIndicators } = await import('./health-indicators.js');

/** The result of one indicator. */
function check(name: string, p99Ms = 0): HealthIndicatorResult[string] | undefined {
  const indicators = new HealthIndicators(
    new HealthIndicatorService(),
    { all: () => [] } as unknown as Backends,
    { lastOutcome: { ok: true, at: new Date() } } as ConfigReloader,
    {} as SecretRedactor,
    { p99Ms } as EventLoopDelay,
  );
  return Object.assign({}, ...indicators.all().map((indicator) => indicator()))[name] as
    HealthIndicatorResult[string] | undefined;
}

describe('HealthIndicators', () => {
  it.each([
    [500, 'up'],
    [501, 'degraded'],
  ])('reports an event loop with a delay of %d ms as %s', (p99Ms, status) => {
    expect(check('eventLoop', p99Ms)).toEqual({ status, p99Ms });
  });

  it.each([
    [900, 'up'],
    [901, 'degraded'],
  ])('reports a heap with %d of 1000 bytes in use as %s', (used, status) => {
    Object.assign(heap, { used_heap_size: used, heap_size_limit: 1000 });
    expect(check('memory')).toMatchObject({ status, heapUsedBytes: used, heapLimitBytes: 1000 });
  });
});
