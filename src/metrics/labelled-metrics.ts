import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

// prom-client hashes the labels at every increment and observation. These metrics build label objects only when they are
// scraped.

/** Label values of a counter, in the order of the label names. */
type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

interface Series<Names extends readonly string[]> {
  readonly values: Values<Names>;
  count: number;
}

/** Counter by label values. */
export class LabelledCounter<const Names extends readonly string[]> {
  private readonly entries = new Map<string, Series<Names>>();

  /** `initial` are the series that exist from the start with the value zero, so that Prometheus sees their first event as an increase. */
  constructor(
    readonly name: string,
    readonly help: string,
    readonly labelNames: Names,
    initial: readonly Values<Names>[] = [],
  ) {
    for (const values of initial) this.increment(values, 0);
  }

  increment(values: Values<Names>, by = 1): void {
    const key = values.length === 1 ? values[0]! : values.join('\n');
    const entry = this.entries.get(key);
    if (entry) entry.count += by;
    else this.entries.set(key, { values, count: by });
  }

  /** Removes the series that do not satisfy the condition. */
  retain(keep: (values: Values<Names>) => boolean): void {
    for (const [key, { values }] of this.entries) if (!keep(values)) this.entries.delete(key);
  }

  *[Symbol.iterator](): Iterator<readonly [labels: Record<Names[number], string>, count: number]> {
    for (const { values, count } of this.entries.values())
      yield [
        Object.fromEntries(this.labelNames.map((name, index) => [name, values[index]!])) as Record<
          Names[number],
          string
        >,
        count,
      ];
  }
}

type Labels = Readonly<Record<string, string>>;

/** Observations of one combination of labels, by bucket; the last bucket has no upper bound. */
interface HistogramSeries {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
}

/** Histogram of durations in seconds. The caller keeps one observer per series. */
export class DurationHistogram {
  readonly type = 'histogram';
  private series: HistogramSeries[] = [];

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
      // Ends at the last bucket: a comparison with undefined is false.
      while (seconds > this.bounds[bucket]!) bucket++;
      series.counts[bucket]!++;
      series.sum += seconds;
    };
  }

  /** Removes the series that do not satisfy the condition. Their observers have no effect any more. */
  retain(keep: (labels: Labels) => boolean): void {
    this.series = this.series.filter(({ labels }) => keep(labels));
  }

  /** Called by the prom-client registry. */
  get(): Promise<Partial<MetricObjectWithValues<MetricValueWithName<string>>>> {
    const { name, help, type } = this;
    return Promise.resolve({
      name,
      help,
      type: type as never,
      values: this.series.flatMap((series) => this.valuesOf(series)),
    });
  }

  private valuesOf({ labels, counts, sum }: HistogramSeries): MetricValueWithName<string>[] {
    // A bucket of Prometheus includes all lower ones.
    let cumulative = 0;
    const buckets = counts.map((count, bucket) => {
      cumulative += count;
      const le = this.bounds[bucket] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: cumulative };
    });
    if (cumulative === 0) return [];
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: cumulative },
    ];
  }
}
