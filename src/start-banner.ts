import { basename, join, relative, resolve } from 'node:path';
import { ADMIN_TOKEN_FILE } from './admin/admin-tokens.js';
import type { BackendStatus } from './backends/backend-status.js';
import type { ConfigFile } from './config/config-path.js';
import type { GatehouseConfig } from './config/gatehouse-config.js';
import type { Environment } from './config/source/interpolate.js';
import { StateDir } from './config/state-dir.js';

/** What the banner shows. */
interface BannerFacts {
  /** The URL of the gateway, without a path. */
  readonly url: string;
  readonly file: ConfigFile & { readonly exists: boolean };
  readonly config: Pick<GatehouseConfig, 'admin' | 'stateDir' | 'mcpServers'>;
  readonly commands: GatewayCommands;
}

/** How the user runs other commands for this gateway. */
interface GatewayCommands {
  /** See `programCommand`. */
  readonly program: string;
  /** The options with which a command finds the gateway, each after a space. */
  readonly options: string;
}

/** Maximum number of failing servers that are named. Further ones are counted. */
const MAX_NAMED = 5;
const LABEL_WIDTH = 13;

/** The lines that are written to a terminal when the gateway listens: what a user needs first. */
export function bannerText({ url, file, config, commands: { program, options } }: BannerFacts): string {
  const token =
    config.admin.token === undefined
      ? join(new StateDir(config.stateDir).path, ADMIN_TOKEN_FILE)
      : 'admin.token of the configuration';
  return [
    line('endpoint', `${url}/mcp (open ${url} in a browser to connect a client)`),
    line('config file', file.exists ? resolve(file.path) : `none; create one: ${program} init`),
    line('admin page', `${url}/admin/docs`),
    line('admin token', token),
    line('terminal UI', `${program} tui${options}`),
    ...(config.mcpServers.size === 0 && file.exists
      ? [line('servers', `none; add one under mcpServers in ${file.path}`)]
      : []),
  ].join('');
}

type ServerState = Pick<BackendStatus, 'id' | 'state'>;

/** The line that is written to a terminal after the first sync of all servers. Empty if there are no servers. */
export function firstSyncText(
  servers: readonly ServerState[],
  { program, options }: GatewayCommands,
): string {
  if (servers.length === 0) return '';
  const failing = servers.filter(({ state }) => state !== 'ready').map(({ id }) => id);
  const up = `${servers.length - failing.length} up`;
  if (failing.length === 0) return line('servers', up);
  const more = failing.length > MAX_NAMED ? ` and ${failing.length - MAX_NAMED} more` : '';
  const names = `${failing.slice(0, MAX_NAMED).join(', ')}${more}`;
  return line('servers', `${up}, ${failing.length} failing: ${names} (${program} servers ls${options})`);
}

const line = (label: string, text: string): string => `  ${label.padEnd(LABEL_WIDTH)}${text}\n`;

/**
 * The options with which other commands find this gateway: `--config` if the user named a configuration file, and `--url` if
 * the file does not determine the address of the gateway: an environment variable overrides it, or the port is 0.
 */
export function targetOptions(
  { path, mustExist }: ConfigFile,
  { url, port, env }: { readonly url: string; readonly port: number; readonly env: Environment },
): string {
  const isOverridden = Object.keys(env).some((name) => /^GATEHOUSE__HTTP(__(HOST|PORT))?$/i.test(name));
  return `${mustExist ? ` --config ${path}` : ''}${isOverridden || port === 0 ? ` --url ${url}` : ''}`;
}

/** The command that runs this program: `gatehouse` if it is installed; in a clone, the command that starts the bundle. */
export function programCommand(script: string | undefined): string {
  if (script === undefined || /^gatehouse(\.\w+)?$/.test(basename(script))) return 'gatehouse';
  const path = basename(script) === 'start.mjs' ? resolve(script, '../../dist/main.js') : script;
  return `node ${relative(process.cwd(), path)}`;
}
