import { Controller, Get } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  type HealthCheckResult,
  type HealthIndicatorResult,
} from '@nestjs/terminus';
import { Backends } from '../backends/backends.service.js';
import { McpEndpoint } from '../edge/mcp-endpoint.js';

/** Told otherwise, terminus would load all of Swagger for its decorator. */
const PLAIN = { noCache: true, swaggerDocumentation: false };

/** What an orchestrator asks. The answers name no server: whoever can reach the port can read them. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly indicator: HealthIndicatorService,
    private readonly backends: Backends,
    private readonly endpoint: McpEndpoint,
  ) {}

  /** The process runs and its event loop turns. */
  @Get('live')
  @HealthCheck(PLAIN)
  live(): Promise<HealthCheckResult> {
    return this.health.check([]);
  }

  /**
   * Requests are taken. A server that is down does not count: every replica sees the same server, and taking them all
   * out of service would make an outage of a partial fault.
   */
  @Get('ready')
  @HealthCheck(PLAIN)
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.accepting(), () => this.servers()]);
  }

  @Get('startup')
  @HealthCheck(PLAIN)
  startup(): Promise<HealthCheckResult> {
    return this.health.check([() => this.servers()]);
  }

  private accepting(): HealthIndicatorResult {
    const session = this.indicator.check('accepting');
    return this.endpoint.draining ? session.down('shutting down') : session.up();
  }

  private servers(): HealthIndicatorResult {
    const session = this.indicator.check('servers');
    const allReady = [...this.backends.all()].every((backend) => backend.status().state === 'ready');
    return allReady ? session.up() : session.degraded();
  }
}
