import { ConfigError } from './config-error.js';
import { readConfig } from './load-config.js';
import { pathText } from './problems.js';
import type { ServerConfig } from './servers-config.js';

/**
 * Makes the settings of a server whose definition does not come from the file. It is held to the same rules, but has no
 * part in the environment: who may add a server may not therefore read the gateway's secrets.
 */
export function readServer(id: string, definition: unknown): ServerConfig {
  const text = JSON.stringify({ mcpServers: { [id]: definition } });
  const prefix = pathText(['mcpServers', id]);
  try {
    return readConfig({ text, file: `server ${id}`, env: {} }).mcpServers.get(id)!;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map(({ path, what }) => ({ path: withoutPrefix(path, prefix), what }));
    throw new ConfigError(`server ${id}`, problems, { cause: error });
  }
}

const withoutPrefix = (path: string, prefix: string): string =>
  path === prefix ? 'definition' : path.startsWith(`${prefix}.`) ? path.slice(prefix.length + 1) : path;
