import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Metrics } from '../metrics/metrics.js';
import { OperatorGuard } from './operator.guard.js';

/** Serves all metrics. The path is set where `PrometheusModule` is registered. */
@Controller()
@UseGuards(OperatorGuard)
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  scrape(): Promise<string> {
    return this.metrics.text();
  }
}
