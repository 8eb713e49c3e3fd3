import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { BackendsModule } from '../backends/backends.module.js';
import { EdgeModule } from '../edge/edge.module.js';
import { HealthController } from './health.controller.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false }), BackendsModule, EdgeModule],
  controllers: [HealthController],
})
export class HealthModule {}
