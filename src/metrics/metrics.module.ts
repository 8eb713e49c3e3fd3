import { Global, Module } from '@nestjs/common';
import { register } from 'prom-client';
import { Metrics } from './metrics.js';

/** Global, because many modules increment counters. Uses prom-client's default registry, which also has Node's metrics. */
@Global()
@Module({
  providers: [{ provide: Metrics, useFactory: () => new Metrics(register) }],
  exports: [Metrics],
})
export class MetricsModule {}
