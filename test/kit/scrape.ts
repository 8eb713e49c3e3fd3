/** One number of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The HELP and TYPE lines of a metric. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
}

const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const SAMPLE = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const SUFFIX = /_(bucket|sum|count)$/;

/** A scrape in Prometheus' text format, parsed independently of the library that writes it. */
export class Scrape {
  readonly families = new Map<string, Family>();
  readonly samples: Sample[] = [];

  constructor(text: string) {
    for (const line of text.split('\n').filter((one) => one !== '')) this.read(line);
  }

  /** The value of the one series with these labels; undefined when there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const wanted = Object.entries(labels);
    return this.samples.find(
      (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
    )?.value;
  }

  /** The labels of a metric's series. */
  seriesOf(name: string): Readonly<Record<string, string>>[] {
    return this.samples.filter((sample) => sample.name === name).map(({ labels }) => labels);
  }

  /** All series of the gateway, one line each. Those of Node vary between scrapes and are left out. */
  get ownSeries(): string[] {
    return this.samples
      .filter(({ name }) => !/^(nodejs|process)_/.test(name))
      .map(({ name, labels }) => `${name}${JSON.stringify(labels)}`)
      .toSorted();
  }

  /** Whether a query may use this name; of a histogram only the names with a suffix. */
  has(name: string): boolean {
    const family = this.families.get(name) ?? this.families.get(name.replace(SUFFIX, ''));
    return family !== undefined && (family.name === name) === (family.type !== 'histogram');
  }

  /** Violations of the naming rules of Prometheus, as `promtool check metrics` reports them. */
  problems(): string[] {
    return [...this.families.values()].flatMap((family) =>
      problemsOf(family, this.labelNamesOf(family)).map((problem) => `${family.name} ${problem}`),
    );
  }

  private labelNamesOf({ name, type }: Family): string[] {
    const isOwn = (sample: Sample): boolean =>
      sample.name === name || (type === 'histogram' && sample.name.replace(SUFFIX, '') === name);
    return [...new Set(this.samples.filter(isOwn).flatMap(({ labels }) => Object.keys(labels)))];
  }

  private read(line: string): void {
    const [, comment, name, rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (comment !== undefined && name !== undefined) {
      const known = this.families.get(name) ?? { name, help: '', type: '' };
      this.families.set(name, { ...known, [comment.toLowerCase()]: rest });
      return;
    }
    const sample = SAMPLE.exec(line);
    if (!sample) throw new Error(`not a line of a scrape: ${line}`);
    const labels = Object.fromEntries(
      [...(sample[2] ?? '').matchAll(LABEL)].map(([, key, value]) => [key, value]),
    );
    this.samples.push({
      name: sample[1]!,
      labels: labels as Record<string, string>,
      value: Number(sample[3]),
    });
  }
}

const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary']);
const NOT_BASE_UNITS =
  /(^|_)(milliseconds?|ms|microseconds?|minutes?|hours?|days?|kilobytes?|megabytes?|kb|mb|percent)(_|$)/;

function problemsOf({ name, help, type }: Family, labels: readonly string[]): string[] {
  const isTotal = name.endsWith('_total');
  return [
    ...(help === '' ? ['has no HELP'] : []),
    ...(TYPES.has(type) ? [] : [`is of no known type: ${type}`]),
    ...(SNAKE_CASE.test(name) ? [] : ['is not snake_case']),
    ...(type === 'counter' && !isTotal ? ['is a counter without _total'] : []),
    ...(type !== 'counter' && isTotal ? ['is not a counter, but ends in _total'] : []),
    ...(/_(bucket|sum|count|info_total)$/.test(name) ? ['ends like a part of a histogram'] : []),
    ...(NOT_BASE_UNITS.test(name) ? ['is not in base units'] : []),
    ...labels.filter((label) => !SNAKE_CASE.test(label)).map((label) => `has the label ${label}`),
  ];
}

/** The metrics that a query uses. */
export function metricsIn(expression: string): string[] {
  const words = expression.replaceAll(/\{[^}]*\}/g, '').match(/[A-Za-z_:][\w:]*/g) ?? [];
  return [...new Set(words.filter((word) => /^(mcp|gatehouse|nodejs|process)_/.test(word)))];
}
