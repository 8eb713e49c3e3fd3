import { Module } from '@nestjs/common';
import { PrometheusModule } from '@willsoto/nestjs-prometheus';
import { register } from 'prom-client';
import { OperatorModule } from '../admin/operator.module.js';
import { MetricsController } from './metrics.controller.js';

/** Default metrics of prom-client that are gauges with the suffix of counters, against the naming rules of Prometheus. */
const MISNAMED_GAUGES = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Only this file imports `PrometheusModule`: it is CommonJS, and jest cannot load it together with Nest's ES modules. */
const prometheus = PrometheusModule.register({
  path: '/metrics',
  controller: MetricsController,
  defaultMetrics: { enabled: true },
});
for (const name of MISNAMED_GAUGES) register.removeSingleMetric(name);

/** Exposes all metrics at `/metrics`, those of Node.js included. */
@Module({ imports: [{ ...prometheus, imports: [OperatorModule] }] })
export class MetricsEndpointModule {}
