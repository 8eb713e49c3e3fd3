/** The way from the top of the config to a value: names of keys, and positions in lists. */
export type KeyPath = readonly (string | number)[];

export interface Problem {
  /** The path of the key, or the place in the file, or the environment variable. */
  readonly path: string;
  readonly what: string;
}

/** Collects what is wrong, so that one start tells everything there is to repair. */
export class Problems {
  private readonly found = new Map<string, Problem>();
  private readonly sources: { readonly path: string; readonly source: string }[] = [];

  get isEmpty(): boolean {
    return this.found.size === 0;
  }

  /**
   * Keeps the first problem of a path: what follows at the same place is mostly a consequence of it.
   * A place that is no key (a line of the file, an environment variable) is given as text.
   */
  add(path: KeyPath | string, what: string): void {
    const text = typeof path === 'string' ? path : pathText(path);
    if (!this.found.has(text)) this.found.set(text, { path: text, what });
  }

  /** Says that the value at `path` was not written there but came from `source`, a variable. */
  attribute(path: KeyPath, source: string): void {
    this.sources.unshift({ path: pathText(path), source });
  }

  /** Says that `source` took the place of whatever was written at `path`, and of what was wrong with that. */
  replaced(path: KeyPath, source: string): void {
    const place = pathText(path);
    for (const found of this.found.keys()) if (isWithin(found, place)) this.found.delete(found);
    this.attribute(path, source);
  }

  list(): Problem[] {
    return [...this.found.values()].map(({ path, what }) => {
      const from = this.sources.find((origin) => isWithin(path, origin.path));
      return { path, what: from ? `${what} (from ${from.source})` : what };
    });
  }
}

const isWithin = (path: string, outer: string): boolean =>
  path.startsWith(outer) && ['', '.', '['].includes(path.charAt(outer.length));

/** `mcpServers.files.args[0]`; a name with a dot or anything stranger in it is quoted. */
export function pathText(path: KeyPath): string {
  return path.map((step, index) => stepText(step, index === 0)).join('');
}

function stepText(step: string | number, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}
