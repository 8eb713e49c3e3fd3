import { Global, Module } from '@nestjs/common';
import { register } from 'prom-client';
import { Metrics } from './metrics.js';

/** Global, because every room counts. In the registry of the process, where Node's own numbers are too. */
@Global()
@Module({
  providers: [{ provide: Metrics, useFactory: () => new Metrics(register) }],
  exports: [Metrics],
})
export class MetricsModule {}
