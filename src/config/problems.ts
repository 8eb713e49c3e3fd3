/** Path of a value in the configuration: keys and list indexes. */
export type KeyPath = readonly (string | number)[];

export interface ConfigProblem {
  /** Path of the key, position in the file, or environment variable. */
  readonly path: string;
  readonly message: string;
}

/** Collects problems, so that one start reports all of them. */
export class ConfigProblems {
  private readonly found = new Map<string, ConfigProblem>();
  /** Where values came from, the latest first: an override takes precedence over the value that it replaced. */
  private readonly sources: { readonly path: string; readonly source: string }[] = [];

  private readonly noted = new Set<string>();

  get isEmpty(): boolean {
    return this.found.size === 0;
  }

  /**
   * Adds a problem if it is the first at its path: later ones are usually consequences of the first. A position that is
   * not a key (a line of the file, an environment variable) is given as text.
   */
  add(path: KeyPath | string, message: string): void {
    const text = typeof path === 'string' ? path : formatPath(path);
    if (!this.found.has(text)) this.found.set(text, { path: text, message });
  }

  /** Records what is not a problem, but may not be what the author of the file expects. */
  note(path: KeyPath, text: string): void {
    this.noted.add(`${formatPath(path)} ${text}`);
  }

  get notes(): string[] {
    return [...this.noted];
  }

  /** Records that the value at `path` came from the variable `source`. */
  recordSource(path: KeyPath, source: string): void {
    this.sources.unshift({ path: formatPath(path), source });
  }

  /** Records that `source` overrides the value at `path`, and drops the problems of the overridden value. */
  recordOverride(path: KeyPath, source: string): void {
    const overridden = formatPath(path);
    for (const key of this.found.keys()) if (isWithin(key, overridden)) this.found.delete(key);
    this.recordSource(path, source);
  }

  list(): ConfigProblem[] {
    return [...this.found.values()].map(({ path, message }) => {
      const origin = this.sources.find((candidate) => isWithin(path, candidate.path));
      return { path, message: origin ? `${message} (from ${origin.source})` : message };
    });
  }
}

const isWithin = (path: string, outer: string): boolean =>
  path.startsWith(outer) && ['', '.', '['].includes(path.charAt(outer.length));

/** For example `mcpServers.files.args[0]`; a name with special characters is quoted. */
export function formatPath(path: KeyPath): string {
  return path.map((step, index) => stepText(step, index === 0)).join('');
}

function stepText(step: string | number, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}
