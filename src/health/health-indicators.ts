import { getHeapStatistics } from 'node:v8';
import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { SecretRedactor } from '../admin/secret-redactor.js';
import type { BackendStatus } from '../backends/backend-status.js';
import { Backends } from '../backends/backends.service.js';
import { ConfigReloader } from '../config/config-reloader.js';
import { EventLoopDelay } from './event-loop-delay.js';

const LONGEST_DELAY_MS = 500;
const MOST_OF_HEAP = 0.9;

/** What an operator is told of each part of the house. Nothing here makes it unfit: it is impaired at most. */
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
      ...Array.from(this.backends.all(), (backend) => () => this.server(backend.status())),
      () => this.eventLoop(),
      () => this.memory(),
      () => this.config(),
    ];
  }

  private server({ id, state, reason, since }: BackendStatus): HealthIndicatorResult {
    const session = this.indicator.check(`server:${id}`);
    const facts = { state, since: new Date(since).toISOString() };
    if (state === 'ready') return session.up(facts);
    return session.degraded({
      ...facts,
      ...(reason === undefined ? {} : { reason: this.secrets.redact(reason) }),
    });
  }

  private eventLoop(): HealthIndicatorResult {
    const { p99Ms } = this.delay;
    const session = this.indicator.check('eventLoop');
    return p99Ms > LONGEST_DELAY_MS ? session.degraded({ p99Ms }) : session.up({ p99Ms });
  }

  private memory(): HealthIndicatorResult {
    const { used_heap_size: heapUsedBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics();
    const facts = { rssBytes: process.memoryUsage.rss(), heapUsedBytes, heapLimitBytes };
    const session = this.indicator.check('memory');
    return heapUsedBytes > heapLimitBytes * MOST_OF_HEAP ? session.degraded(facts) : session.up(facts);
  }

  private config(): HealthIndicatorResult {
    const { ok, at, problem = '' } = this.reloader.lastOutcome;
    const facts = { at: at.toISOString() };
    const session = this.indicator.check('config');
    return ok ? session.up(facts) : session.degraded({ ...facts, problem: this.secrets.redact(problem) });
  }
}
