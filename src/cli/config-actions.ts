import { readFileSync } from 'node:fs';
import { loadConfig } from '../config/load-config.js';
import { schemaFileText } from '../config/json-schema.js';
import { printable } from '../client/printable.js';
import { pluralize } from '../client/format.js';
import { CommandError } from './command-error.js';
import { importServers } from './config-import.js';
import { asYaml, effectiveConfig } from './config-print.js';
import { Output } from './output.js';

export type ConfigFormat = 'yaml' | 'json';

/** Prints a summary of a valid file. Throws the ConfigError with which the gateway would refuse to start. */
export function checkConfig(path: string): void {
  const { mcpServers, projects, notes } = loadConfig({ path, env: process.env });
  const out = new Output('table');
  const enabled = [...mcpServers.values()].filter((server) => server.enabled).length;
  const disabled = mcpServers.size - enabled;
  const servers = `${pluralize(enabled, 'server')}${disabled === 0 ? '' : ` (plus ${disabled} disabled)`}`;
  out.line(`${printable(path)} is valid: ${servers}, ${pluralize(projects.size, 'project')}`);
  for (const note of notes) out.note(`note: ${note}`);
}

export function printConfig(path: string, format: ConfigFormat): void {
  printValue(effectiveConfig(loadConfig({ path, env: process.env })), format);
}

export function printSchema(): void {
  new Output('json').bytes(schemaFileText());
}

/**
 * Converts the servers in the configuration file of an MCP client to the format of the gateway, and prints them. Then throws
 * if the gateway would refuse the result for a reason other than unset variables.
 */
export function importConfig(file: string, format: ConfigFormat): void {
  const { config, notes, problems } = importServers(readInput(file), file === '-' ? 'stdin' : file);
  printValue(config, format);
  const out = new Output('table');
  for (const note of notes) out.note(`note: ${note}`);
  if (problems.length > 0)
    throw new CommandError(printableList(['the gateway would refuse this configuration:', ...problems]));
}

function printValue(value: Record<string, unknown>, format: ConfigFormat): void {
  const out = new Output('json');
  if (format === 'json') out.json(value);
  else out.content(asYaml(value));
}

const printableList = (lines: readonly string[]): string => lines.map(printable).join('\n  ');

function readInput(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new RangeError(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}
