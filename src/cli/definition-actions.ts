import { tryParseJson } from '../lib/json-text/json-value.js';
import { printable } from '../client/printable.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';
import { printOutcome, requireReady } from './server-reports.js';
import { parseToolArguments } from './tool-arguments.js';

export interface DefinitionOptions extends GatewayOptions {
  readonly definition?: string;
}

export interface ProjectOptions extends GatewayOptions {
  readonly description?: string;
}

/** Adds a server. Rejects if the server exists already, or if it is enabled and not ready after it was added. */
export async function addServer(
  id: string,
  settings: readonly string[],
  options: DefinitionOptions,
): Promise<void> {
  const definition = readSettings(settings, options);
  const { api, out } = await openGateway(options);
  const server = await api.addServer(id, definition);
  printOutcome(out, id, 'added', server);
  if (server.enabled) requireReady(server);
}

export async function editServer(
  id: string,
  settings: readonly string[],
  options: DefinitionOptions,
): Promise<void> {
  const patch = readSettings(settings, options);
  const { api, out } = await openGateway(options);
  const server = await api.patchServer(id, patch);
  const { changed } = server;
  printOutcome(out, id, changed.length === 0 ? 'unchanged' : `changed (${changed.join(', ')})`, server);
}

export async function removeServer(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  await api.removeServer(id);
  if (out.format === 'json') out.json({ id, removed: true });
  else out.line(printable(`${id} is removed`));
}

export async function setProject(
  id: string,
  servers: readonly string[],
  options: ProjectOptions,
): Promise<void> {
  const { api, out } = await openGateway(options);
  const { description } = options;
  const project = await api.putProject(id, { servers, ...(description !== undefined && { description }) });
  if (out.format === 'json') out.json(project);
  else
    out.line(
      printable(`${id} has ${project.servers.length === 0 ? 'no servers' : project.servers.join(', ')}`),
    );
}

export async function removeProject(id: string, options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  await api.removeProject(id);
  if (out.format === 'json') out.json({ id, removed: true });
  else out.line(printable(`${id} is removed`));
}

/** Reads a definition from `name=value` settings and the option `--definition`. */
function readSettings(
  settings: readonly string[],
  { definition }: DefinitionOptions,
): Record<string, unknown> {
  const result = parseToolArguments(definition, settings, {
    option: '--definition',
    convert: (_name, text) => convertScalar(text),
  });
  if (Object.keys(result).length === 0) throw new RangeError('give settings as name=value, or --definition');
  return result;
}

/** Converts the text of a number or boolean. A key that accepts text needs `name:="5"` for a text such as `5`. */
function convertScalar(text: string): unknown {
  const value = tryParseJson(text);
  return typeof value === 'number' || typeof value === 'boolean' ? value : text;
}
