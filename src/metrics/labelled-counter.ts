/** Label values of a counter, in the order of the label names. */
type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

interface Series<Names extends readonly string[]> {
  readonly values: Values<Names>;
  count: number;
}

/**
 * Counter by label values. prom-client hashes the labels at every increment; this counter builds the label objects when it
 * is scraped.
 */
export class LabelledCounter<const Names extends readonly string[]> {
  private readonly entries = new Map<string, Series<Names>>();

  constructor(readonly names: Names) {}

  /** Incrementing by zero creates the series, so that Prometheus sees the first event as an increase. */
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
        Object.fromEntries(this.names.map((name, index) => [name, values[index]!])) as Record<
          Names[number],
          string
        >,
        count,
      ];
  }
}
