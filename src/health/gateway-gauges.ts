import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { BackendStatus } from '../backends/backend-status.js';
import type { Backend } from '../backends/backend.js';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import { ConfigReloader } from '../config/config-reloader.js';
import { MetricsSettings } from '../config/metrics-settings.js';
import { Sessions } from '../edge/sessions.service.js';
import { Metrics, type Reading } from '../metrics/metrics.js';

const STATES: readonly BackendStatus['state'][] = [
  'connecting',
  'ready',
  'unresponsive',
  'retrying',
  'crash-loop',
  'stopped',
];

/** Exposes gauges, and one counter, whose values are read from the state of the gateway at every scrape. */
@Injectable()
export class GatewayGauges implements OnModuleInit {
  constructor(
    private readonly metrics: Metrics,
    private readonly settings: MetricsSettings,
    private readonly servers: DesiredServers,
    private readonly backends: Backends,
    private readonly sessions: Sessions,
    private readonly reloader: ConfigReloader,
  ) {}

  onModuleInit(): void {
    const { metrics } = this;
    metrics.removeUnknownServersAtScrape((server) => this.servers.current.has(server));
    if (this.settings.aliases) metrics.exposeResourceReadsAlias();
    metrics.exposeValue('gauge', 'mcp_sessions_active', 'Open sessions.', () => this.sessions.size);
    this.exposeServerMetrics();
    metrics.exposeValue(
      'gauge',
      'gatehouse_config_last_reload_successful',
      'Whether the last reload of the configuration was accepted.',
      () => Number(this.reloader.lastOutcome.ok),
    );
    metrics.exposeValue(
      'gauge',
      'gatehouse_config_last_reload_success_timestamp_seconds',
      'Time of the last accepted reload of the configuration.',
      () => this.reloader.lastSuccessAt.getTime() / 1000,
    );
  }

  private exposeServerMetrics(): void {
    this.exposePerServer('gauge', 'mcp_backend_up', 'Whether the server is ready.', (backend) =>
      Number(backend.status().state === 'ready'),
    );
    this.exposePerServer(
      'gauge',
      'mcp_backend_queue_depth',
      'Requests that wait for the server, those of the gateway itself included.',
      (backend) => backend.status().waiting,
    );
    this.exposePerServer(
      'gauge',
      'mcp_backend_in_flight',
      'Requests that the server has not answered yet, those of the gateway itself included.',
      (backend) => backend.status().inFlight,
    );
    this.exposePerServer(
      'gauge',
      'gatehouse_backend_queue_limit',
      'Maximum number of calls of clients that wait for the server.',
      ({ config }) => config.queue,
    );
    this.exposePerServer(
      'counter',
      'gatehouse_backend_restarts_total',
      'Starts of the process after the first one; for a server without a process, connections after the first one.',
      (backend) => backend.status().restarts,
    );
    this.exposePerServer(
      'gauge',
      'gatehouse_backend_failed_lists',
      'Lists of the server that could not be fetched when they were last requested.',
      (backend) => backend.status().failedLists,
    );
    this.metrics.exposeValue(
      'gauge',
      'gatehouse_backends_waiting_to_start',
      'Servers that wait until others have started (startup.parallel).',
      () => this.backends.waitingToStart,
    );
    this.metrics.expose(
      {
        type: 'gauge',
        name: 'gatehouse_backend_failure_cause',
        help: 'Why the server is not connected: 1 for the current cause.',
        labelNames: ['server_id', 'cause'],
      },
      () => this.causeReadings(),
    );
    this.metrics.expose(
      {
        type: 'gauge',
        name: 'gatehouse_backend_state',
        help: 'Connection state of the server: 1 for the current state, 0 for the others.',
        labelNames: ['server_id', 'state'],
      },
      () => this.stateReadings(),
    );
  }

  private *causeReadings(): Reading {
    for (const backend of this.backends.all()) {
      const { id, state, cause } = backend.status();
      if (state !== 'ready' && cause) yield [{ server_id: id, cause }, 1];
    }
  }

  private exposePerServer(
    type: 'counter' | 'gauge',
    name: string,
    help: string,
    read: (backend: Backend) => number,
  ): void {
    this.metrics.expose({ type, name, help, labelNames: ['server_id'] }, () =>
      Array.from(this.backends.all(), (backend) => [{ server_id: backend.id }, read(backend)]),
    );
  }

  private *stateReadings(): Reading {
    for (const backend of this.backends.all()) {
      const { id, state } = backend.status();
      for (const label of STATES) yield [{ server_id: id, state: label }, Number(label === state)];
    }
  }
}
