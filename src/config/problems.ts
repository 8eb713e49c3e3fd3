/** Path of a value in the configuration: keys and list indexes. */
export type KeyPath = readonly (string | number)[];

export interface ConfigProblem {
  /** Path of the key, position in the file, or environment variable. */
  readonly path: string;
  readonly message: string;
}

/** Collects all problems of a configuration, so that one start reports all of them. */
export class ConfigProblems {
  private readonly byPath = new Map<string, ConfigProblem>();
  /** Where values came from, the latest source first: an override takes precedence over the source that it overrides. */
  private readonly sources: { readonly path: string; readonly source: string }[] = [];

  private readonly noteTexts = new Set<string>();

  get isEmpty(): boolean {
    return this.byPath.size === 0;
  }

  /**
   * Adds a problem unless there is one at this path already: later problems are usually consequences of the first. `path`
   * is a text if it names a line of the file or an environment variable instead of a key.
   */
  add(path: KeyPath | string, message: string): void {
    const text = typeof path === 'string' ? path : formatPath(path);
    if (!this.byPath.has(text)) this.byPath.set(text, { path: text, message });
  }

  /** Records that a valid value is read in a way that the author of the file may not expect. */
  note(path: KeyPath, text: string): void {
    this.noteTexts.add(`${formatPath(path)} ${text}`);
  }

  get notes(): string[] {
    return [...this.noteTexts];
  }

  /** Records that the value at `path` came from `source`: an environment variable, or a key of another MCP client. */
  recordSource(path: KeyPath, source: string): void {
    this.sources.unshift({ path: formatPath(path), source });
  }

  /** Records that `source` overrides the value at `path`, and drops the problems of the overridden value. */
  recordOverride(path: KeyPath, source: string): void {
    const overridden = formatPath(path);
    for (const problemPath of this.byPath.keys())
      if (isWithin(problemPath, overridden)) this.byPath.delete(problemPath);
    this.recordSource(path, source);
  }

  list(): ConfigProblem[] {
    return [...this.byPath.values()].map(({ path, message }) => {
      const origin = this.sources.find((candidate) => isWithin(path, candidate.path));
      return { path, message: origin ? `${message} (from ${origin.source})` : message };
    });
  }
}

/** Whether `path` is `outer` or the path of a value inside it. */
const isWithin = (path: string, outer: string): boolean => {
  const endOrSeparator = ['', '.', '['];
  return path.startsWith(outer) && endOrSeparator.includes(path.charAt(outer.length));
};

/** For example `mcpServers.files.args[0]`; a name with special characters is quoted. */
export function formatPath(path: KeyPath): string {
  return path.map((step, index) => stepText(step, index === 0)).join('');
}

function stepText(step: string | number, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}
