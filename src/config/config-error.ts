import type { ConfigProblem } from './problems.js';

/** The configuration is invalid. The message names its source and lists one problem per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    /** The path of the file, or the server whose definition an administrator sent. */
    readonly source: string,
    readonly problems: readonly ConfigProblem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(({ path, what }) => `  ${path}: ${what}`);
    super([`invalid configuration ${source}:`, ...lines].join('\n'), options);
  }
}
