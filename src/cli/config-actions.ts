import { readFileSync } from 'node:fs';
import { loadConfig } from '../config/load-config.js';
import { schemaFileText } from '../config/json-schema.js';
import { printable } from '../client/printable.js';
import { pluralize } from '../client/format.js';
import { CommandError } from './command-failed.js';
import { importServers } from './config-import.js';
import { asYaml, effectiveConfig } from './config-print.js';
import { Output } from './output.js';

export type ConfigFormat = 'yaml' | 'json';

/** Throws the ConfigError that the gateway would stop with. */
export function checkConfig(path: string): void {
  const { mcpServers, projects } = loadConfig({ path, env: process.env });
  const out = new Output('table');
  const enabled = [...mcpServers.values()].filter((server) => server.enabled).length;
  const off = mcpServers.size - enabled;
  const servers = `${pluralize(enabled, 'server')}${off === 0 ? '' : ` (and ${off} disabled)`}`;
  out.line(`${printable(path)} is valid: ${servers}, ${pluralize(projects.size, 'project')}`);
}

export function printConfig(path: string, format: ConfigFormat): void {
  show(effectiveConfig(loadConfig({ path, env: process.env })), format);
}

export function printSchema(): void {
  new Output('json').bytes(schemaFileText());
}

/** Prints what it can; fails when something in it is not accepted, whatever its variables are. */
export function importConfig(file: string, format: ConfigFormat): void {
  const { config, notes, problems } = importServers(textOf(file), file === '-' ? 'stdin' : file);
  show(config, format);
  const out = new Output('table');
  for (const note of notes) out.note(`note: ${note}`);
  if (problems.length > 0)
    throw new CommandError(printableList(['this is not accepted as it stands:', ...problems]));
}

function show(value: Record<string, unknown>, format: ConfigFormat): void {
  const out = new Output('json');
  if (format === 'json') out.json(value);
  else out.content(asYaml(value));
}

const printableList = (lines: readonly string[]): string => lines.map(printable).join('\n  ');

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (cause) {
    throw new RangeError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
