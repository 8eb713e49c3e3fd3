import { DurationHistogram } from './labelled-metrics.js';

type Outcome = 'ok' | 'error';
type ServerObservers = Readonly<Record<Outcome, (seconds: number) => void>>;

/** Durations of the requests that the gateway forwards to servers, with one series per server and outcome. */
export class ServerDurations {
  readonly histogram: DurationHistogram;
  private readonly observers = new Map<string, ServerObservers>();

  constructor(buckets: readonly number[]) {
    this.histogram = new DurationHistogram(
      'gatehouse_backend_request_duration_seconds',
      'Time from reading a request that is forwarded to the server to writing its response.',
      buckets,
    );
  }

  observe(server: string, outcome: Outcome, seconds: number): void {
    let observers = this.observers.get(server);
    if (!observers) {
      observers = {
        ok: this.histogram.observer({ server_id: server, outcome: 'ok' }),
        error: this.histogram.observer({ server_id: server, outcome: 'error' }),
      };
      this.observers.set(server, observers);
    }
    observers[outcome](seconds);
  }

  /** Removes the series of servers for which `isKnown` is false. */
  retain(isKnown: (server: string) => boolean): void {
    this.histogram.retain(({ server_id: server }) => isKnown(server!));
    for (const server of this.observers.keys()) if (!isKnown(server)) this.observers.delete(server);
  }
}
