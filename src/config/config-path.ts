export const DEFAULT_CONFIG_PATH = 'config/gatehouse.yaml';

/** Path of the configuration: the command-line argument, GATEHOUSE_CONFIG, or the default. */
export const configPath = (argument: string | undefined): string =>
  argument ?? process.env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG_PATH;
