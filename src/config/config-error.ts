import type { ConfigProblem } from './problems.js';

/** The configuration is invalid. The message names the file and lists one problem per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly ConfigProblem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(({ path, what }) => `  ${path}: ${what}`);
    super([`cannot start with the configuration ${file}:`, ...lines].join('\n'), options);
  }
}
