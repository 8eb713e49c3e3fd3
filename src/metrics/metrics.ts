import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client';
import { VERSION } from '../version.js';

/** How a request or a call ended, as far as a label may say it. */
export type Outcome = 'ok' | 'error';

/** A value read when it is asked for, one per server or other bounded label. */
export type Reading = readonly (readonly [labels: Record<string, string>, value: number])[];

const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Every number the gateway shows. Labels are bounded: server ids come from the configuration, methods from the
 * handlers there are; nothing that a client writes becomes one.
 */
export class Metrics {
  readonly requestDuration: Histogram<'method' | 'outcome'>;
  readonly toolCalls: Counter<'server_id' | 'outcome'>;
  readonly notifications: Counter<'kind' | 'outcome'>;
  readonly authFailures: Counter<'reason'>;
  readonly configReloadSuccessful: Gauge;
  readonly configReloadTime: Gauge;
  readonly auditWriteFailures: Counter;
  private readonly registers: Registry[];

  constructor(readonly registry: Registry = register) {
    this.registers = [registry];
    this.requestDuration = new Histogram({
      name: 'mcp_request_duration_seconds',
      help: 'Time from reading an MCP request to having its answer.',
      labelNames: ['method', 'outcome'],
      buckets: LATENCY_BUCKETS,
      registers: this.registers,
    });
    this.toolCalls = this.counter('mcp_tool_calls_total', 'Tool calls routed to a server.', ['server_id', 'outcome']);
    this.notifications = this.counter('mcp_notifications_total', 'Notifications to clients.', ['kind', 'outcome']);
    this.authFailures = this.counter('gatehouse_auth_failures_total', 'Requests with no valid credentials.', ['reason']);
    this.auditWriteFailures = this.counter('gatehouse_audit_write_failures_total', 'Audit entries not written.', []);
    this.configReloadSuccessful = this.gauge(
      'gatehouse_config_last_reload_successful',
      'Whether the last reload of the configuration was accepted.',
    );
    this.configReloadTime = this.gauge(
      'gatehouse_config_last_reload_success_timestamp_seconds',
      'When a configuration was last accepted.',
    );
    this.observe('gatehouse_build_info', 'Always 1; the version is in the label.', ['version'], () => [
      [{ version: VERSION }, 1],
    ]);
  }

  /** A gauge whose values are read at every scrape: what is gone is gone from the scrape too. */
  observe(name: string, help: string, labelNames: readonly string[], read: () => Reading): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: this.registers,
      collect() {
        this.reset();
        for (const [labels, value] of read()) this.set(labels, value);
      },
    });
  }

  private counter<T extends string>(name: string, help: string, labelNames: readonly T[]): Counter<T> {
    return new Counter({ name, help, labelNames, registers: this.registers });
  }

  private gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: this.registers });
  }
}
