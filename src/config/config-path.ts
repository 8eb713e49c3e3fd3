export const DEFAULT_CONFIG_PATH = 'config/gatehouse.yaml';

export interface ConfigFile {
  readonly path: string;
  /** Whether a missing file is an error. If false, a missing file counts as empty. */
  readonly mustExist: boolean;
}

/** Path of the configuration: the command-line argument, GATEHOUSE_CONFIG, or the default. */
export const configPath = (argument: string | undefined): string =>
  argument ?? process.env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG_PATH;

/** The file must exist only if the user named it. */
export const configFile = (argument: string | undefined): ConfigFile => ({
  path: configPath(argument),
  mustExist: argument !== undefined || process.env['GATEHOUSE_CONFIG'] !== undefined,
});
