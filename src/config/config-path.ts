export const DEFAULT_CONFIG = 'config/gatehouse.yaml';

/** The configuration that is meant: the one that was named, or that of the environment. */
export const configPath = (named: string | undefined, env = process.env): string =>
  named ?? env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG;
