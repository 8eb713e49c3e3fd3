import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

/** What is known of one combination of labels: how many fell into each bucket, the last being for all above. */
interface Series {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram of seconds. Prometheus's own client hashes the labels at every observation, which is most of its work
 * (see Tally); here whoever observes holds its series, and the labels are put to the counts when somebody looks.
 */
export class Durations {
  readonly type = 'histogram';
  private readonly all: Series[] = [];

  constructor(
    readonly name: string,
    readonly help: string,
    /** The upper bounds of the buckets, in ascending order. */
    private readonly bounds: readonly number[],
  ) {}

  /** The way to observe under these labels. A series shows from its first observation on. */
  under(labels: Labels): (seconds: number) => void {
    const series: Series = { labels, counts: this.bounds.map(() => 0).concat(0), sum: 0 };
    this.all.push(series);
    return (seconds) => {
      let bucket = 0;
      while (seconds > this.bounds[bucket]!) bucket++;
      series.counts[bucket]!++;
      series.sum += seconds;
    };
  }

  /** What a registry asks of a metric. */
  get(): Promise<Partial<MetricObjectWithValues<MetricValueWithName<string>>>> {
    const { name, help, type } = this;
    return Promise.resolve({
      name,
      help,
      type: type as never,
      values: this.all.flatMap((one) => this.valuesOf(one)),
    });
  }

  private valuesOf({ labels, counts, sum }: Series): MetricValueWithName<string>[] {
    let below = 0;
    const buckets = counts.map((count, bucket) => ({
      metricName: `${this.name}_bucket`,
      labels: { le: this.bounds[bucket] ?? '+Inf', ...labels },
      value: (below += count),
    }));
    if (below === 0) return [];
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: below },
    ];
  }
}
