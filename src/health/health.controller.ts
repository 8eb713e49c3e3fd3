import { Controller, Get, UseGuards } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { Backends } from '../backends/backends.service.js';
import { McpEndpoint } from '../edge/mcp-endpoint.js';
import { HealthIndicators } from './health-indicators.js';
import { OperatorGuard } from './operator.guard.js';
import { RequiredServers } from './required-servers.js';
import { StartupProgress } from './startup-progress.js';

/** Told otherwise, terminus would load all of Swagger for its decorator. */
const PLAIN = { noCache: true, swaggerDocumentation: false };

/** What an orchestrator asks is answered to whoever can reach the port, and names no server; the rest is for operators. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly backends: Backends,
    private readonly endpoint: McpEndpoint,
    private readonly startupProgress: StartupProgress,
    private readonly required: RequiredServers,
    private readonly indicators: HealthIndicators,
  ) {}

  /** Everything there is to know. */
  @Get()
  @UseGuards(OperatorGuard)
  @HealthCheck(PLAIN)
  everything(): Promise<HealthCheckResult> {
    return this.health.check([() => this.accepting(), ...this.indicators.all()]);
  }

  /** The process runs and its event loop turns. Not terminus' own check, to which one that is draining is dead. */
  @Get('live')
  @HealthCheck(PLAIN)
  live(): HealthCheckResult {
    return { status: 'ok', info: {}, error: {}, details: {} };
  }

  /**
   * Requests are taken. A server that is down does not count: every replica sees the same server, and taking them all
   * out of service would make an outage of a partial fault.
   */
  @Get('ready')
  @HealthCheck(PLAIN)
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.accepting(), () => this.requiredServers(), () => this.servers()]);
  }

  /** Every server has been asked once, so lists are as whole as they can be. */
  @Get('startup')
  @HealthCheck(PLAIN)
  startup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.started()]);
  }

  private accepting(): HealthIndicatorResult {
    const session = this.indicator.check('accepting');
    return this.endpoint.draining ? session.down('shutting down') : session.up();
  }

  private requiredServers(): HealthIndicatorResult {
    const session = this.indicator.check('requiredServers');
    return this.required.wereConnected ? session.up() : session.down('not all were connected yet');
  }

  private servers(): HealthIndicatorResult {
    const session = this.indicator.check('servers');
    const allReady = [...this.backends.all()].every((backend) => backend.status().state === 'ready');
    return allReady ? session.up() : session.degraded();
  }

  private started(): HealthIndicatorResult {
    const session = this.indicator.check('startup');
    return this.startupProgress.isComplete ? session.up() : session.down('servers are still being asked');
  }
}
