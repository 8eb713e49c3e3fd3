import type { Problem } from './problems.js';

/** The configuration cannot be used. The message names the file, and then every problem on a line of its own. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly file: string,
    readonly problems: readonly Problem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(({ path, what }) => `  ${path}: ${what}`);
    super([`cannot start with the configuration ${file}:`, ...lines].join('\n'), options);
  }
}
