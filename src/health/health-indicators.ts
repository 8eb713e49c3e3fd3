import { getHeapStatistics } from 'node:v8';
import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { SecretRedactor } from '../admin/secret-redactor.js';
import type { BackendStatus } from '../backends/backend-status.js';
import { Backends } from '../backends/backends.service.js';
import { ConfigReloader } from '../config/config-reloader.js';
import { EventLoopDelay } from './event-loop-delay.js';

const MAX_DELAY_MS = 500;
const MAX_HEAP_SHARE = 0.9;

/** The indicators of `/health` for operators. Each is up or degraded; none makes the gateway unhealthy. */
@Injectable()
export class HealthIndicators {
  constructor(
    private readonly indicator: HealthIndicatorService,
    private readonly backends: Backends,
    private readonly reloader: ConfigReloader,
    private readonly secrets: SecretRedactor,
    private readonly delay: EventLoopDelay,
  ) {}

  all(): (() => HealthIndicatorResult)[] {
    return [
      ...Array.from(this.backends.all(), (backend) => () => this.checkServer(backend.status())),
      () => this.checkEventLoop(),
      () => this.checkMemory(),
      () => this.checkConfig(),
    ];
  }

  private checkServer({ id, state, reason, since }: BackendStatus): HealthIndicatorResult {
    const check = this.indicator.check(`server:${id}`);
    const details = { state, since: new Date(since).toISOString() };
    if (state === 'ready' && reason === undefined) return check.up(details);
    return check.degraded({
      ...details,
      ...(reason === undefined ? {} : { reason: this.secrets.redact(reason) }),
    });
  }

  private checkEventLoop(): HealthIndicatorResult {
    const { p99Ms } = this.delay;
    const check = this.indicator.check('eventLoop');
    return p99Ms > MAX_DELAY_MS ? check.degraded({ p99Ms }) : check.up({ p99Ms });
  }

  private checkMemory(): HealthIndicatorResult {
    const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics();
    const details = { rssBytes: process.memoryUsage.rss(), heapUsedBytes, heapLimitBytes };
    const check = this.indicator.check('memory');
    return heapUsedBytes > heapLimitBytes * MAX_HEAP_SHARE ? check.degraded(details) : check.up(details);
  }

  private checkConfig(): HealthIndicatorResult {
    const { ok, at, problem = '' } = this.reloader.lastOutcome;
    const details = { at: at.toISOString() };
    const check = this.indicator.check('config');
    return ok ? check.up(details) : check.degraded({ ...details, problem: this.secrets.redact(problem) });
  }
}
