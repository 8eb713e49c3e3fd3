import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AdminModule } from '../admin/admin.module.js';
import { OperatorModule } from '../admin/operator.module.js';
import { BackendsModule } from '../backends/backends.module.js';
import { EdgeModule } from '../edge/edge.module.js';
import { EventLoopDelay } from './event-loop-delay.js';
import { HealthController } from './health.controller.js';
import { HealthIndicators } from './health-indicators.js';
import { GatewayGauges } from './gateway-gauges.js';
import { ProcessUsage } from './process-usage.js';
import { RequiredServers } from './required-servers.js';
import { StartupProgress } from './startup-progress.js';

@Module({
  imports: [
    TerminusModule.forRoot({ logger: false }),
    AdminModule,
    OperatorModule,
    BackendsModule,
    EdgeModule,
  ],
  controllers: [HealthController],
  providers: [
    EventLoopDelay,
    HealthIndicators,
    GatewayGauges,
    ProcessUsage,
    RequiredServers,
    StartupProgress,
  ],
})
export class HealthModule {}
