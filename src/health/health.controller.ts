import { Controller, Get, UseGuards } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { Backends } from '../backends/backends.service.js';
import { Drain } from '../edge/drain.service.js';
import { HealthIndicators } from './health-indicators.js';
import { OperatorGuard } from './operator.guard.js';
import { RequiredServers } from './required-servers.js';
import { StartupProgress } from './startup-progress.js';

/** With `swaggerDocumentation`, terminus would load @nestjs/swagger. */
const CHECK_OPTIONS = { noCache: true, swaggerDocumentation: false };

/**
 * `/health` is for operators. `/health/live`, `/health/ready` and `/health/startup` are for orchestrators: they require no
 * credentials and name no server.
 */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly backends: Backends,
    private readonly drain: Drain,
    private readonly startupProgress: StartupProgress,
    private readonly required: RequiredServers,
    private readonly indicators: HealthIndicators,
  ) {}

  @Get()
  @UseGuards(OperatorGuard)
  @HealthCheck(CHECK_OPTIONS)
  details(): Promise<HealthCheckResult> {
    return this.health.check([() => this.checkAccepting(), ...this.indicators.all()]);
  }

  /**
   * A response means that the process runs and its event loop is not blocked. `HealthCheckService.check` is not used, because
   * it fails while the gateway drains.
   */
  @Get('live')
  @HealthCheck(CHECK_OPTIONS)
  live(): HealthCheckResult {
    return { status: 'ok', info: {}, error: {}, details: {} };
  }

  /**
   * Status 200 means that the gateway accepts requests, that every server has finished its first sync or failed, and that
   * every required server has been connected once. A server that is down later does not make the gateway unready: all
   * replicas use the same servers, and if all replicas were taken out of service, a partial failure would become an outage.
   */
  @Get('ready')
  @HealthCheck(CHECK_OPTIONS)
  ready(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.checkAccepting(),
      () => this.checkStartup(),
      () => this.checkRequiredServers(),
      () => this.checkServers(),
    ]);
  }

  /** Status 200 means that every server has finished its first sync or failed, so lists are as complete as they can be. */
  @Get('startup')
  @HealthCheck(CHECK_OPTIONS)
  startup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.checkStartup()]);
  }

  private checkAccepting(): HealthIndicatorResult {
    const check = this.indicator.check('accepting');
    return this.drain.isDraining ? check.down('shutting down') : check.up();
  }

  private checkRequiredServers(): HealthIndicatorResult {
    const check = this.indicator.check('requiredServers');
    return this.required.allWereConnected
      ? check.up()
      : check.down('not every required server has been connected yet');
  }

  private checkServers(): HealthIndicatorResult {
    const check = this.indicator.check('servers');
    const allReady = [...this.backends.all()].every((backend) => backend.status().state === 'ready');
    return allReady ? check.up() : check.degraded();
  }

  private checkStartup(): HealthIndicatorResult {
    const check = this.indicator.check('startup');
    return this.startupProgress.isComplete
      ? check.up()
      : check.down('servers have not finished their first sync');
  }
}
