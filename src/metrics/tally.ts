/** The values of a counter's labels, in the order of their names. */
type Values<Names extends readonly string[]> = { readonly [Index in keyof Names]: string };

interface Entry<Names extends readonly string[]> {
  readonly values: Values<Names>;
  count: number;
}

/**
 * Counts by label. Prometheus's own client hashes the labels at every increment, which is ten times the work; here it
 * is done when somebody looks.
 */
export class Tally<const Names extends readonly string[]> {
  private readonly entries = new Map<string, Entry<Names>>();

  constructor(readonly names: Names) {}

  /** Adds nothing when told so: the series is then there before the first event, and its growth is seen from it on. */
  count(values: Values<Names>, by = 1): void {
    const key = values.length === 1 ? values[0]! : values.join('\n');
    const entry = this.entries.get(key);
    if (entry) entry.count += by;
    else this.entries.set(key, { values, count: by });
  }

  /** Forgets what is not to be kept. */
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
