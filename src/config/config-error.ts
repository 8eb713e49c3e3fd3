import type { ConfigProblem } from './problems.js';

/** The configuration is invalid. The message names the source of the configuration and lists one problem per line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    /** The path of the file, or the server whose definition an administrator sent. */
    readonly source: string,
    readonly problems: readonly ConfigProblem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(({ path, message }) => `  ${path}: ${message}`);
    super([`invalid configuration ${source}:`, ...lines].join('\n'), options);
  }
}

/** The file does not exist. The message is one sentence that says what to do. */
export class MissingConfigError extends ConfigError {
  constructor(path: string, cause: unknown) {
    super(path, [{ path, message: 'does not exist' }], { cause });
    this.message = `the configuration file ${path} does not exist: check the path, or create the file with \`gatehouse init ${path}\``;
  }
}
