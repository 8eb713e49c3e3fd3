import { Counter, Gauge, Registry, type Histogram } from 'prom-client';
import { VERSION } from '../version.js';
import type { CallOutcome } from './call-outcome.js';
import { DurationHistogram, LabelledCounter } from './labelled-metrics.js';
import { MimeTypeLabels } from './mime-type-labels.js';
import { MEMORY_LIMITS, type MemoryLimit } from '../core/memory-limits.js';
import { NOTIFICATION_KINDS, type NotificationKind } from '../core/notification-kind.js';

export type RequestOutcome = 'ok' | 'error';

/**
 * - `coalesced`: replaced by a later notification with the same key, such as an update of the same resource
 * - `dropped`: removed from a full queue, or withdrawn because the client lost access to the server of the notification
 */
export type NotificationOutcome = 'written' | 'redelivered' | 'coalesced' | 'dropped';
const NOTIFICATION_OUTCOMES: readonly NotificationOutcome[] = [
  'written',
  'redelivered',
  'coalesced',
  'dropped',
];

/** `left`: the client disconnected. `stuck`: the client stopped reading. `replaced`: the client opened the stream again. */
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

/** `unheard`: no subscriber. `coalesced`: replaced by a later update of the same resource. */
type UpdateOutcome = 'delivered' | 'unheard' | 'coalesced';
const UPDATE_OUTCOMES: readonly UpdateOutcome[] = ['delivered', 'unheard', 'coalesced'];

/** `limit`: a subscription limit is reached. `failed`: the server refused. `unknown`: the resource does not exist. */
type SubscriptionRejection = 'limit' | 'failed' | 'unavailable' | 'unknown';
const SUBSCRIPTION_REJECTIONS: readonly SubscriptionRejection[] = [
  'limit',
  'failed',
  'unavailable',
  'unknown',
];

export type JsonSource = 'client' | 'admin' | 'server';
const JSON_SOURCES: readonly JsonSource[] = ['client', 'admin', 'server'];

/** `depth`, `members` and `size`: over a limit. `encoding`: not UTF-8. */
type JsonRefusal = 'syntax' | 'encoding' | 'depth' | 'members' | 'size';
const JSON_REFUSALS: readonly JsonRefusal[] = ['syntax', 'encoding', 'depth', 'members', 'size'];

/** The keys in `limits` and of a server that refuse sessions, streams, connections, calls and processes. */
export type RefusedLimit = (typeof REFUSED_LIMITS)[number];
const REFUSED_LIMITS = [
  'sessions',
  'sessionsPerPrincipal',
  'streamsPerPrincipal',
  'connectionsPerPrincipal',
  'callsPerPrincipal',
  'queuedPerPrincipal',
  'processesPerPrincipal',
  'inFlightPerSession',
  'queue',
] as const;

/** `change`: when an administrator sent the address. `connect`: when the server was to be connected. */
type AddressCheck = 'change' | 'connect';
const ADDRESS_CHECKS: readonly AddressCheck[] = ['change', 'connect'];

/** Values that are read at every scrape, each with its labels. */
export type Reading = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** By outcome: the function that observes a request of one method. */
type Observers = Readonly<Record<RequestOutcome, (seconds: number) => void>>;

interface Family {
  readonly type: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** Label of requests without a handler. */
const UNKNOWN_METHOD = '_other';
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * All metrics of the gateway. Labels are bounded: server ids come from the configuration and methods from the registered
 * handlers. Text from clients never becomes a label.
 */
export class Metrics {
  private readonly toolCalls = new LabelledCounter(['server_id', 'outcome']);
  private readonly resourceReads = new LabelledCounter(['server_id', 'mime_type', 'outcome']);
  private readonly notifications = new LabelledCounter(['kind', 'outcome']);
  private readonly streamEnds = new LabelledCounter(['reason']);
  private readonly authFailures = new LabelledCounter(['reason']);
  private readonly refusedJson = new LabelledCounter(['source', 'reason']);
  private readonly excessMessages = new LabelledCounter(['server_id', 'outcome']);
  private readonly unattributedMessages = new LabelledCounter(['server_id', 'kind']);
  private readonly refusals = new LabelledCounter(['limit']);
  private readonly addressRefusals = new LabelledCounter(['at']);
  private readonly memoryLimits = new LabelledCounter(['limit']);
  private readonly mimeTypes = new MimeTypeLabels();
  private readonly durations = new DurationHistogram(
    'mcp_request_duration_seconds',
    'Time from reading an MCP request to writing its response.',
    LATENCY_BUCKETS,
  );
  private readonly observers = new Map<string, Observers>();
  private removeUnknownServers: () => void = () => {};
  private auditFailures = 0;
  private requestsCutOff = 0;
  private sessionEvictions = 0;
  private readonly subscriptionEvents = new LabelledCounter(['outcome']);
  private readonly subscriptionRejections = new LabelledCounter(['reason']);
  /** Number of subscriptions of clients. Set by the subscriptions module, like the next one. */
  activeSubscriptions: () => number = () => 0;
  upstreamSubscriptions: () => number = () => 0;
  subscriptionsWithoutStream: () => number = () => 0;

  constructor(readonly registry: Registry = new Registry()) {
    // The type of registerMetric allows prom-client's own classes only; the registry only calls `get`.
    registry.registerMetric(this.durations as unknown as Histogram);
    for (const reason of AUTH_FAILURES) this.authFailures.increment([reason], 0);
    for (const at of ADDRESS_CHECKS) this.addressRefusals.increment([at], 0);
    for (const limit of REFUSED_LIMITS) this.refusals.increment([limit], 0);
    for (const reason of STREAM_ENDS) this.streamEnds.increment([reason], 0);
    for (const limit of MEMORY_LIMITS) this.memoryLimits.increment([limit], 0);
    for (const outcome of UPDATE_OUTCOMES) this.subscriptionEvents.increment([outcome], 0);
    for (const reason of SUBSCRIPTION_REJECTIONS) this.subscriptionRejections.increment([reason], 0);
    for (const kind of NOTIFICATION_KINDS)
      for (const outcome of NOTIFICATION_OUTCOMES) this.notifications.increment([kind, outcome], 0);
    for (const source of JSON_SOURCES)
      for (const reason of JSON_REFUSALS) this.refusedJson.increment([source, reason], 0);
    this.exposeCounters();
  }

  /** Methods without a handler are counted under one label. */
  observeRequest(method: string, hasHandler: boolean, outcome: RequestOutcome, seconds: number): void {
    const name = hasHandler ? method : UNKNOWN_METHOD;
    const observers = this.observers.get(name) ?? this.createObservers(name);
    observers[outcome](seconds);
  }

  countToolCall(server: string, outcome: CallOutcome): void {
    this.toolCalls.increment([server, outcome]);
  }

  countResourceRead(server: string, mimeType: string | undefined, outcome: CallOutcome): void {
    this.resourceReads.increment([server, this.mimeTypes.of(mimeType), outcome]);
  }

  countNotification(kind: NotificationKind, outcome: NotificationOutcome): void {
    this.notifications.increment([kind, outcome]);
  }

  /** Counts an update from a server, or one that the gateway sends itself after a gap or a deletion. */
  countUpdate(outcome: UpdateOutcome): void {
    this.subscriptionEvents.increment([outcome]);
  }

  countSubscriptionRejection(reason: SubscriptionRejection): void {
    this.subscriptionRejections.increment([reason]);
  }

  /** Counts a message of a server beyond the rate of unsolicited messages. */
  countExcessMessage(server: string, outcome: 'coalesced' | 'dropped'): void {
    this.excessMessages.increment([server, outcome]);
  }

  /** Counts a message of a server that was dropped or refused because it is not known which client it is for. */
  countUnattributedMessage(server: string, kind: 'message' | 'progress' | 'request'): void {
    this.unattributedMessages.increment([server, kind]);
  }

  countStreamEnd(reason: StreamEnd): void {
    this.streamEnds.increment([reason]);
  }

  countAuthFailure(reason: AuthFailure): void {
    this.authFailures.increment([reason]);
  }

  /** Counts a JSON text from outside that was not read. */
  countRefusedJson(source: JsonSource, reason: JsonRefusal): void {
    this.refusedJson.increment([source, reason]);
  }

  countRefusal(limit: RefusedLimit): void {
    this.refusals.increment([limit]);
  }

  /** Counts a session that was ended because another principal needed its place. */
  countSessionEviction(): void {
    this.sessionEvictions++;
  }

  countMemoryLimit(limit: MemoryLimit): void {
    this.memoryLimits.increment([limit]);
  }

  /** Counts requests that were running at the end of the drain. */
  countCutOff(requests: number): void {
    this.requestsCutOff += requests;
  }

  countAddressRefusal(at: AddressCheck): void {
    this.addressRefusals.increment([at]);
  }

  countAuditFailure(): void {
    this.auditFailures++;
  }

  /** Calls `read` at every scrape and exposes exactly the values that it returns. */
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

  /** At every scrape, removes the series of servers that are not known any more. */
  retainServers(isKnown: (server: string) => boolean): void {
    this.removeUnknownServers = () => {
      this.toolCalls.retain(([server]) => isKnown(server));
      this.resourceReads.retain(([server]) => isKnown(server));
      this.excessMessages.retain(([server]) => isKnown(server));
      this.unattributedMessages.retain(([server]) => isKnown(server));
    };
  }

  /** Exposes resource reads under a second name with the labels that existing dashboards use. */
  exposeAlias(): void {
    const labelNames = ['serverId', 'mimeType', 'status'];
    const help = 'Resource reads as in mcp_resource_reads_total, by success or failure.';
    this.expose({ type: 'counter', name: 'mcpResourceReadsTotal', help, labelNames }, () =>
      Array.from(this.resourceReads, ([{ server_id: serverId, mime_type: mimeType, outcome }, count]) => [
        { serverId, mimeType, status: outcome === 'ok' ? 'success' : 'failure' },
        count,
      ]),
    );
  }

  /** All metrics in Prometheus' text format. */
  text(): Promise<string> {
    this.removeUnknownServers();
    return this.registry.metrics();
  }

  private createObservers(method: string): Observers {
    const observers = {
      ok: this.durations.observer({ method, outcome: 'ok' }),
      error: this.durations.observer({ method, outcome: 'error' }),
    };
    this.observers.set(method, observers);
    return observers;
  }

  private exposeCounters(): void {
    this.exposeCounter(
      'mcp_tool_calls_total',
      'Tool calls, by the server that owns the tool.',
      this.toolCalls,
    );
    this.exposeCounter('mcp_resource_reads_total', 'Resource reads.', this.resourceReads);
    this.exposeCounter('mcp_notifications_total', 'Notifications to clients.', this.notifications);
    this.exposeCounter(
      'gatehouse_stream_closes_total',
      'Closed connections of event streams.',
      this.streamEnds,
    );
    this.exposeCounter(
      'gatehouse_refused_json_total',
      'JSON from clients, administrators and servers that was not read.',
      this.refusedJson,
    );
    this.exposeCounter(
      'gatehouse_auth_failures_total',
      'MCP requests without valid credentials.',
      this.authFailures,
    );
    this.exposeCounter('gatehouse_limit_refusals_total', 'What a limit refused.', this.refusals);
    this.exposeCounter(
      'gatehouse_memory_limits_total',
      'Messages refused, and links and pages dropped, because a memory limit was reached.',
      this.memoryLimits,
    );
    this.exposeCounter(
      'mcp_subscription_events_total',
      'Resource updates from servers, or of the gateway itself after a gap or a deletion, by outcome.',
      this.subscriptionEvents,
    );
    this.exposeCounter(
      'gatehouse_subscription_rejections_total',
      'Refused subscriptions.',
      this.subscriptionRejections,
    );
    this.exposeCounter(
      'gatehouse_excess_server_messages_total',
      'Unsolicited messages of servers beyond their rate.',
      this.excessMessages,
    );
    this.exposeCounter(
      'gatehouse_unattributed_server_messages_total',
      'Messages of servers dropped or refused because the client they are for is not known.',
      this.unattributedMessages,
    );
    this.exposeCounter(
      'gatehouse_address_refusals_total',
      'Addresses of servers of the admin API that the policy refused.',
      this.addressRefusals,
    );
    const cutOff = { type: 'counter', name: 'gatehouse_requests_cut_off_total' } as const;
    this.expose({ ...cutOff, help: 'Requests that the drain deadline cut off.' }, () => [
      [{}, this.requestsCutOff],
    ]);
    const failures = { type: 'counter', name: 'gatehouse_audit_write_failures_total' } as const;
    this.expose({ ...failures, help: 'Audit entries that could not be written.' }, () => [
      [{}, this.auditFailures],
    ]);
    const evictions = { type: 'counter', name: 'gatehouse_sessions_evicted_total' } as const;
    this.expose({ ...evictions, help: 'Sessions that were ended for one of another principal.' }, () => [
      [{}, this.sessionEvictions],
    ]);
    const subscriptions = { type: 'gauge', name: 'mcp_active_subscriptions' } as const;
    this.expose({ ...subscriptions, help: 'Subscriptions that clients hold.' }, () => [
      [{}, this.activeSubscriptions()],
    ]);
    const upstream = { type: 'gauge', name: 'gatehouse_upstream_subscriptions' } as const;
    this.expose(
      {
        ...upstream,
        help: 'Upstream subscriptions at servers, and resources that the gateway polls.',
      },
      () => [[{}, this.upstreamSubscriptions()]],
    );
    const unheard = { type: 'gauge', name: 'gatehouse_subscriptions_without_stream' } as const;
    this.expose({ ...unheard, help: 'Subscriptions whose clients have no event stream open.' }, () => [
      [{}, this.subscriptionsWithoutStream()],
    ]);
    const build = { type: 'gauge', name: 'gatehouse_build_info', labelNames: ['version'] } as const;
    this.expose({ ...build, help: 'Always 1; the version is in the label.' }, () => [
      [{ version: VERSION }, 1],
    ]);
  }

  private exposeCounter(name: string, help: string, counter: LabelledCounter<readonly string[]>): void {
    this.expose({ type: 'counter', name, help, labelNames: counter.names }, () => counter);
  }
}
