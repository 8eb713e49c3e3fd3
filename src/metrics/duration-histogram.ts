import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

type Labels = Readonly<Record<string, string>>;

/** Observations of one combination of labels, by bucket; the last bucket has no upper bound. */
interface HistogramSeries {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

/**
 * Histogram of durations in seconds. prom-client hashes the labels at every observation (see LabelledCounter); here the
 * caller holds an observer per series, and the labels are added when it is scraped.
 */
export class DurationHistogram {
  readonly type = 'histogram';
  private readonly series: HistogramSeries[] = [];

  constructor(
    readonly name: string,
    readonly help: string,
    /** Upper bounds of the buckets, ascending. */
    private readonly bounds: readonly number[],
  ) {}

  /** The function that observes a duration under these labels. A series is exposed from its first observation on. */
  observer(labels: Labels): (seconds: number) => void {
    const series: HistogramSeries = { labels, counts: this.bounds.map(() => 0).concat(0), sum: 0 };
    this.series.push(series);
    return (seconds) => {
      let bucket = 0;
      while (seconds > this.bounds[bucket]!) bucket++;
      series.counts[bucket]!++;
      series.sum += seconds;
    };
  }

  /** Called by the prom-client registry. */
  get(): Promise<Partial<MetricObjectWithValues<MetricValueWithName<string>>>> {
    const { name, help, type } = this;
    return Promise.resolve({
      name,
      help,
      type: type as never,
      values: this.series.flatMap((one) => this.valuesOf(one)),
    });
  }

  private valuesOf({ labels, counts, sum }: HistogramSeries): MetricValueWithName<string>[] {
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
