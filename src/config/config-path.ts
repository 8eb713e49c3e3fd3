export const DEFAULT_CONFIG_PATH = 'config/gatehouse.yaml';

/** Path of the configuration: the argument, GATEHOUSE_CONFIG, or the default. */
export const configPath = (named: string | undefined): string =>
  named ?? process.env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG_PATH;
