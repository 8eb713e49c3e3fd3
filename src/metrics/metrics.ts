import { Counter, Gauge, Registry, type Histogram } from 'prom-client';
import { VERSION } from '../version.js';
import type { CallOutcome } from './call-outcome.js';
import type { MemoryLimit } from '../core/memory-limits.js';
import type { NotificationKind } from '../core/notification-kind.js';
import { createCounters } from './counters.js';
import { DurationHistogram } from './labelled-metrics.js';
import { ServerDurations } from './server-durations.js';
import type {
  AddressCheck,
  AuthFailure,
  InputOutcome,
  JsonRefusal,
  JsonSource,
  LineKind,
  ListenOutcome,
  NotificationOutcome,
  OriginRefusal,
  QuestionOutcome,
  RefusingLimit,
  RequestOutcome,
  StreamEnd,
  SubscriptionRejection,
  UnsentUpdateOutcome,
  WrittenOutcome,
} from './metric-labels.js';
import { MimeTypeLabels } from './mime-type-labels.js';

/** The values of one metric at one scrape, each with its labels. */
export type Reading = Iterable<readonly [labels: Readonly<Record<string, string>>, value: number]>;

/** The functions that observe the duration of a request of one method, by outcome of the request. */
type Observers = Readonly<Record<RequestOutcome, (seconds: number) => void>>;

/** What Prometheus calls a metric family: all series of one name. */
interface Family {
  readonly type: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** Value of the label `method` for all methods without a handler. */
const UNKNOWN_METHOD = '_other';
/** Upper bounds of the buckets of durations, in seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const isWritten = (outcome: NotificationOutcome): outcome is WrittenOutcome =>
  outcome === 'written' || outcome === 'redelivered';

/**
 * All metrics of the gateway. Labels are bounded: server ids are those of known servers, and methods are those of registered
 * handlers. Text from clients never becomes a label.
 */
export class Metrics {
  private readonly counters = createCounters();
  private readonly mimeTypes = new MimeTypeLabels();
  private readonly durations = new DurationHistogram(
    'mcp_request_duration_seconds',
    'Time from reading an MCP request to writing its response.',
    LATENCY_BUCKETS,
  );
  private readonly observers = new Map<string, Observers>();
  readonly serverDurations = new ServerDurations(LATENCY_BUCKETS);
  /** Called before each scrape. See `removeUnknownServersAtScrape`. */
  private removeUnknownServers: () => void = () => {};

  constructor(readonly registry: Registry = new Registry()) {
    // The types of prom-client allow its own classes only. At run time, the registry needs `name` and `get` only.
    for (const histogram of [this.durations, this.serverDurations.histogram])
      registry.registerMetric(histogram as unknown as Histogram);
    for (const counter of Object.values(this.counters)) {
      const { name, help, labelNames } = counter;
      this.expose({ type: 'counter', name, help, labelNames }, () => counter.readings());
    }
    const help = 'Always 1; the version is in the label.';
    this.expose({ type: 'gauge', name: 'gatehouse_build_info', help, labelNames: ['version'] }, () => [
      [{ version: VERSION }, 1],
    ]);
  }

  /** Counts a request of a client and its duration. Methods without a handler share one label. */
  observeRequest(method: string, hasHandler: boolean, outcome: RequestOutcome, seconds: number): void {
    const name = hasHandler ? method : UNKNOWN_METHOD;
    const observers = this.observers.get(name) ?? this.createObservers(name);
    observers[outcome](seconds);
  }

  /** Counts a log line that was not written because there were too many of its kind. */
  countSuppressedLine(kind: LineKind): void {
    this.counters.suppressedLines.increment([kind]);
  }

  countToolCall(server: string, outcome: CallOutcome): void {
    this.counters.toolCalls.increment([server, outcome]);
  }

  countResourceRead(server: string, mimeType: string | undefined, outcome: CallOutcome): void {
    this.counters.resourceReads.increment([server, this.mimeTypes.of(mimeType), outcome]);
  }

  countNotification(kind: NotificationKind, outcome: NotificationOutcome): void {
    this.counters.notifications.increment([kind, outcome]);
    if (kind === 'resources/updated' && isWritten(outcome)) this.counters.updates.increment([outcome]);
  }

  /** Counts an update that is sent to no client. `countNotification` counts the updates that are sent. */
  countUnsentUpdate(outcome: UnsentUpdateOutcome): void {
    this.counters.updates.increment([outcome]);
  }

  countSubscriptionRejection(reason: SubscriptionRejection): void {
    this.counters.subscriptionRejections.increment([reason]);
  }

  /** Counts an unsolicited message that exceeds the rate at which a server may send such messages. */
  countExcessMessage(server: string, outcome: 'coalesced' | 'dropped'): void {
    this.counters.excessMessages.increment([server, outcome]);
  }

  /** Counts a message of a server that is not valid JSON-RPC. */
  countMalformedMessage(server: string): void {
    this.counters.malformedMessages.increment([server]);
  }

  /** Counts a message of a server that was dropped or refused because it is not known which client it is for. */
  countUnattributedMessage(server: string, kind: 'message' | 'progress' | 'request'): void {
    this.counters.unattributedMessages.increment([server, kind]);
  }

  /** Counts a request whose server required input of the client. */
  countInputRequest(server: string, outcome: InputOutcome): void {
    this.counters.inputRequests.increment([server, outcome]);
  }

  /** Counts a question of a server of 2025 to a client of revision 2026-07-28 when its outcome is known. */
  countClientQuestion(server: string, outcome: QuestionOutcome): void {
    this.counters.clientQuestions.increment([server, outcome]);
  }

  /** Counts a URI or identifier that was not matched with all resource templates of a server: that would take too long. */
  countUnfinishedMatch(server: string): void {
    this.counters.unfinishedMatches.increment([server]);
  }

  /** Counts a list that a client stopped reading before its last page. */
  countUnfinishedList(method: string): void {
    this.counters.unfinishedLists.increment([method]);
  }

  countStreamEnd(reason: StreamEnd): void {
    this.counters.streamEnds.increment([reason]);
  }

  /** Counts a request for a listen stream. */
  countListen(outcome: ListenOutcome): void {
    this.counters.listens.increment([outcome]);
  }

  countAuthFailure(reason: AuthFailure): void {
    this.counters.authFailures.increment([reason]);
  }

  /** Counts a JSON text from outside that was not read. */
  countRefusedJson(source: JsonSource, reason: JsonRefusal): void {
    this.counters.refusedJson.increment([source, reason]);
  }

  /** Counts a request that was refused because of its Host or Origin. */
  countOriginRefusal(reason: OriginRefusal): void {
    this.counters.originRefusals.increment([reason]);
  }

  /** Counts a session, stream, connection, request, call or process that a limit has refused. */
  countRefusal(limit: RefusingLimit): void {
    this.counters.limitRefusals.increment([limit]);
  }

  /** Counts a session that was ended because another principal needed its place. */
  countSessionEviction(): void {
    this.counters.sessionEvictions.increment([]);
  }

  /** Counts a session that was opened without servers in its scope, or lost the last one. */
  countEmptyScope(): void {
    this.counters.emptyScopes.increment([]);
  }

  countMemoryLimit(limit: MemoryLimit): void {
    this.counters.memoryLimits.increment([limit]);
  }

  /** Counts requests that were running at the end of the drain. */
  countCutOff(requests: number): void {
    this.counters.requestsCutOff.increment([], requests);
  }

  countAddressRefusal(at: AddressCheck): void {
    this.counters.addressRefusals.increment([at]);
  }

  countAuditFailure(): void {
    this.counters.auditFailures.increment([]);
  }

  /** Exposes a metric whose series are exactly those that `read` returns. `read` is called at every scrape. */
  expose({ type, ...family }: Family, read: () => Reading | Promise<Reading>): void {
    // `registers: []` keeps the constructors from adding the metric to prom-client's default registry.
    const metric =
      type === 'gauge'
        ? new Gauge({
            ...family,
            registers: [],
            async collect() {
              const readings = await read();
              this.reset();
              for (const [labels, value] of readings) this.set(labels, value);
            },
          })
        : new Counter({
            ...family,
            registers: [],
            async collect() {
              const readings = await read();
              this.reset();
              for (const [labels, value] of readings) this.inc(labels, value);
            },
          });
    this.registry.registerMetric(metric);
  }

  /** Exposes one value without labels, which `read` returns at every scrape. */
  exposeValue(type: Family['type'], name: string, help: string, read: () => number): void {
    this.expose({ type, name, help }, () => [[{}, read()]]);
  }

  /** Makes every scrape remove the series of servers for which `isKnown` is false. */
  removeUnknownServersAtScrape(isKnown: (server: string) => boolean): void {
    this.removeUnknownServers = () => {
      for (const counter of Object.values(this.counters))
        if (counter.labelNames[0] === 'server_id') counter.retain(([server]) => isKnown(server!));
      this.serverDurations.retain(isKnown);
    };
  }

  /** Exposes resource reads under a second name with the labels that existing dashboards use. */
  exposeResourceReadsAlias(): void {
    const labelNames = ['serverId', 'mimeType', 'status'];
    const help = 'Resource reads as in mcp_resource_reads_total, by success or failure.';
    this.expose({ type: 'counter', name: 'mcpResourceReadsTotal', help, labelNames }, () =>
      Array.from(
        this.counters.resourceReads.readings(),
        ([{ server_id: serverId, mime_type: mimeType, outcome }, count]) => [
          { serverId, mimeType, status: outcome === 'ok' ? 'success' : 'failure' },
          count,
        ],
      ),
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
}
