import { Counter, Gauge, Registry, type Histogram } from 'prom-client';
import { VERSION } from '../version.js';
import type { CallOutcome } from './call-outcome.js';
import { Durations } from './durations.js';
import { MimeTypeLabels } from './mime-type-labels.js';
import { NOTIFICATION_KINDS, type NotificationKind } from '../core/notification-kind.js';
import { Tally } from './tally.js';

/** How a request ended, as far as a label may say it. */
export type RequestOutcome = 'ok' | 'error';

/** `coalesced`: a later one of its kind took its place. `dropped`: its reader was too slow. */
export type NotificationOutcome = 'delivered' | 'coalesced' | 'dropped';
const NOTIFICATION_OUTCOMES: readonly NotificationOutcome[] = ['delivered', 'coalesced', 'dropped'];

/** `stuck`: its reader took nothing for too long and was let go. `replaced`: the client opened it anew. */
export type StreamEnd = 'finished' | 'left' | 'replaced' | 'stuck';
const STREAM_ENDS: readonly StreamEnd[] = ['finished', 'left', 'replaced', 'stuck'];

export type AuthFailure =
  'missing' | 'malformed' | 'invalid' | 'expired' | 'insufficient-scope' | 'unverifiable';
const AUTH_FAILURES: readonly AuthFailure[] = [
  'missing',
  'malformed',
  'invalid',
  'expired',
  'insufficient-scope',
  'unverifiable',
];

/** `unheard`: nobody is subscribed. `coalesced`: a later one of the same resource took its place. */
export type UpdateOutcome = 'delivered' | 'unheard' | 'coalesced';
const UPDATE_OUTCOMES: readonly UpdateOutcome[] = ['delivered', 'unheard', 'coalesced'];

/** `limit`: too many already. `failed`: the server refused. `unknown`: there is no such resource. */
export type SubscriptionRejection = 'limit' | 'failed' | 'unavailable' | 'unknown';
const SUBSCRIPTION_REJECTIONS: readonly SubscriptionRejection[] = [
  'limit',
  'failed',
  'unavailable',
  'unknown',
];

/** Values that are read when they are asked for: each with its labels. */
export type Reading = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** The series of one method, looked up once. */
type Timers = Readonly<Record<RequestOutcome, (seconds: number) => void>>;

interface Family {
  readonly type: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** The method of a request that there is no handler for. */
const NO_METHOD = '_other';
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Every number the gateway shows. Labels are bounded: server ids come from the configuration, methods from the
 * handlers there are; nothing that a client writes becomes one.
 */
export class Metrics {
  private readonly toolCalls = new Tally(['server_id', 'outcome']);
  private readonly resourceReads = new Tally(['server_id', 'mime_type', 'outcome']);
  private readonly notifications = new Tally(['kind', 'outcome']);
  private readonly streamEnds = new Tally(['reason']);
  private readonly authFailures = new Tally(['reason']);
  private readonly mimeTypes = new MimeTypeLabels();
  private readonly durations = new Durations(
    'mcp_request_duration_seconds',
    'Time from reading an MCP request to writing its answer.',
    LATENCY_BUCKETS,
  );
  private readonly timers = new Map<string, Timers>();
  private forgetServers: () => void = () => {};
  private auditFailures = 0;
  private readonly subscriptionEvents = new Tally(['outcome']);
  private readonly subscriptionRejections = new Tally(['reason']);
  /** Set by the room that keeps them: what clients hold, and what servers hold for the gateway. */
  activeSubscriptions: () => number = () => 0;
  upstreamSubscriptions: () => number = () => 0;

  constructor(readonly registry: Registry = new Registry()) {
    // Declared to take only its own classes, a registry asks for no more of a metric than Durations has.
    registry.registerMetric(this.durations as unknown as Histogram);
    for (const reason of AUTH_FAILURES) this.authFailures.count([reason], 0);
    for (const reason of STREAM_ENDS) this.streamEnds.count([reason], 0);
    for (const outcome of UPDATE_OUTCOMES) this.subscriptionEvents.count([outcome], 0);
    for (const reason of SUBSCRIPTION_REJECTIONS) this.subscriptionRejections.count([reason], 0);
    for (const kind of NOTIFICATION_KINDS)
      for (const outcome of NOTIFICATION_OUTCOMES) this.notifications.count([kind, outcome], 0);
    this.exposeCounts();
  }

  /** `handled` says whether there is a handler for the method: one that there is none for becomes no label. */
  requestEnded(method: string, handled: boolean, outcome: RequestOutcome, seconds: number): void {
    const name = handled ? method : NO_METHOD;
    const timer = this.timers.get(name) ?? this.timerOf(name);
    timer[outcome](seconds);
  }

  toolCalled(server: string, outcome: CallOutcome): void {
    this.toolCalls.count([server, outcome]);
  }

  resourceRead(server: string, mimeType: string | undefined, outcome: CallOutcome): void {
    this.resourceReads.count([server, this.mimeTypes.of(mimeType), outcome]);
  }

  notified(kind: NotificationKind, outcome: NotificationOutcome): void {
    this.notifications.count([kind, outcome]);
  }

  /** A server told of a change of a resource, or the gateway itself does. */
  resourceUpdated(outcome: UpdateOutcome): void {
    this.subscriptionEvents.count([outcome]);
  }

  subscriptionRejected(reason: SubscriptionRejection): void {
    this.subscriptionRejections.count([reason]);
  }

  streamEnded(reason: StreamEnd): void {
    this.streamEnds.count([reason]);
  }

  authFailed(reason: AuthFailure): void {
    this.authFailures.count([reason]);
  }

  auditNotWritten(): void {
    this.auditFailures++;
  }

  /** Shows values that are read at every scrape: what is gone is gone from the scrape too. */
  expose({ type, ...family }: Family, read: () => Reading): void {
    const metric =
      type === 'gauge'
        ? new Gauge({
            ...family,
            registers: [],
            collect() {
              this.reset();
              for (const [labels, value] of read()) this.set(labels, value);
            },
          })
        : new Counter({
            ...family,
            registers: [],
            collect() {
              this.reset();
              for (const [labels, value] of read()) this.inc(labels, value);
            },
          });
    this.registry.registerMetric(metric);
  }

  /** Only these servers are shown; what was counted of others is forgotten. Asked at every scrape. */
  keepServers(isKnown: (server: string) => boolean): void {
    this.forgetServers = () => {
      this.toolCalls.retain(([server]) => isKnown(server));
      this.resourceReads.retain(([server]) => isKnown(server));
    };
  }

  /** Shows resource reads under a second name too, for those whose dashboards have it: as success or failure. */
  exposeAlias(): void {
    const labelNames = ['serverId', 'mimeType', 'status'];
    const help = 'The same as mcp_resource_reads_total, by whether they succeeded.';
    this.expose({ type: 'counter', name: 'mcpResourceReadsTotal', help, labelNames }, () =>
      Array.from(this.resourceReads, ([{ server_id: serverId, mime_type: mimeType, outcome }, count]) => [
        { serverId, mimeType, status: outcome === 'ok' ? 'success' : 'failure' },
        count,
      ]),
    );
  }

  /** Everything, in Prometheus' text format. */
  text(): Promise<string> {
    this.forgetServers();
    return this.registry.metrics();
  }

  private timerOf(method: string): Timers {
    const timer = {
      ok: this.durations.under({ method, outcome: 'ok' }),
      error: this.durations.under({ method, outcome: 'error' }),
    };
    this.timers.set(method, timer);
    return timer;
  }

  private exposeCounts(): void {
    this.exposeTally('mcp_tool_calls_total', 'Tool calls, by the server that owns the tool.', this.toolCalls);
    this.exposeTally('mcp_resource_reads_total', 'Resource reads.', this.resourceReads);
    this.exposeTally('mcp_notifications_total', 'Notifications to clients.', this.notifications);
    this.exposeTally(
      'gatehouse_stream_closes_total',
      'Connections of event streams that ended.',
      this.streamEnds,
    );
    this.exposeTally(
      'gatehouse_auth_failures_total',
      'MCP requests without valid credentials.',
      this.authFailures,
    );
    this.exposeTally(
      'mcp_subscription_events_total',
      'Updates of resources, from servers or of our own after a gap or a deletion, by what became of them.',
      this.subscriptionEvents,
    );
    this.exposeTally(
      'gatehouse_subscription_rejections_total',
      'Subscriptions that were refused.',
      this.subscriptionRejections,
    );
    this.exposeCount(
      'gatehouse_audit_write_failures_total',
      'Audit entries that could not be written.',
      () => this.auditFailures,
    );
    const subscriptions = { type: 'gauge', name: 'mcp_active_subscriptions' } as const;
    this.expose({ ...subscriptions, help: 'Subscriptions that clients hold.' }, () => [
      [{}, this.activeSubscriptions()],
    ]);
    const upstream = { type: 'gauge', name: 'gatehouse_upstream_subscriptions' } as const;
    this.expose(
      {
        ...upstream,
        help: 'Resources that servers keep the gateway informed of, or that it looks at itself.',
      },
      () => [[{}, this.upstreamSubscriptions()]],
    );
    const build = { type: 'gauge', name: 'gatehouse_build_info', labelNames: ['version'] } as const;
    this.expose({ ...build, help: 'Always 1; the version is in the label.' }, () => [
      [{ version: VERSION }, 1],
    ]);
  }

  private exposeTally(name: string, help: string, tally: Tally<readonly string[]>): void {
    this.expose({ type: 'counter', name, help, labelNames: tally.names }, () => tally);
  }

  private exposeCount(name: string, help: string, read: () => number): void {
    this.expose({ type: 'counter', name, help }, () => [[{}, read()]]);
  }
}
