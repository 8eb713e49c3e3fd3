import type { MetricObjectWithValues, MetricValueWithName } from 'prom-client';

/*
 * prom-client hashes the labels at every increment and observation. To save this time, the metrics in this file pass labels
 * to prom-client only when Prometheus scrapes them.
 */

/** Label values of a counter, in the order of the label names. */
type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

interface Series<Names extends readonly string[]> {
  readonly values: Values<Names>;
  count: number;
}

/** A counter with one series per combination of label values. */
export class LabelledCounter<const Names extends readonly string[]> {
  private readonly entries = new Map<string, Series<Names>>();

  /**
   * The series in `initial` exist from the start with the value zero. Prometheus therefore sees their first event as an
   * increase.
   */
  constructor(
    readonly name: string,
    readonly help: string,
    readonly labelNames: Names,
    initial: readonly Values<Names>[] = [],
  ) {
    for (const values of initial) this.increment(values, 0);
  }

  increment(values: Values<Names>, amount = 1): void {
    // No label value contains a line feed.
    const key = values.length === 1 ? values[0]! : values.join('\n');
    const entry = this.entries.get(key);
    if (entry) entry.count += amount;
    else this.entries.set(key, { values, count: amount });
  }

  /** Removes the series for which `isRetained` is false. */
  retain(isRetained: (values: Values<Names>) => boolean): void {
    for (const [key, { values }] of this.entries) if (!isRetained(values)) this.entries.delete(key);
  }

  /** The current series, for one scrape. */
  *readings(): Generator<readonly [labels: Record<Names[number], string>, count: number]> {
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

/** The observations under one combination of labels. */
interface HistogramSeries {
  readonly labels: Labels;
  /** Number of observations by bucket. The last bucket has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/** A histogram of durations in seconds. The caller creates one observer per series and reuses it. */
export class DurationHistogram {
  readonly type = 'histogram';
  private series: HistogramSeries[] = [];

  constructor(
    readonly name: string,
    readonly help: string,
    /** Upper bounds of the buckets, ascending. */
    private readonly bounds: readonly number[],
  ) {}

  /**
   * Creates a series with these labels and returns the function that observes a duration in it. The series is exposed from
   * its first observation on.
   */
  observer(labels: Labels): (seconds: number) => void {
    const bucketCount = this.bounds.length + 1;
    const series: HistogramSeries = { labels, counts: Array.from({ length: bucketCount }, () => 0), sum: 0 };
    this.series.push(series);
    return (seconds) => {
      let bucket = 0;
      while (bucket < this.bounds.length && seconds > this.bounds[bucket]!) bucket++;
      series.counts[bucket]!++;
      series.sum += seconds;
    };
  }

  /** Removes the series for which `isRetained` is false. After that, their observers have no effect. */
  retain(isRetained: (labels: Labels) => boolean): void {
    this.series = this.series.filter(({ labels }) => isRetained(labels));
  }

  /** Called by the prom-client registry. */
  get(): Promise<Partial<MetricObjectWithValues<MetricValueWithName<string>>>> {
    const { name, help, type } = this;
    return Promise.resolve({
      name,
      help,
      // prom-client declares an enum here, but its registry works with the name of the type.
      type: type as never,
      values: this.series.flatMap((series) => this.valuesOf(series)),
    });
  }

  private valuesOf({ labels, counts, sum }: HistogramSeries): MetricValueWithName<string>[] {
    // In Prometheus, the count of a bucket includes those of all lower buckets.
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
