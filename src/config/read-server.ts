import { ConfigError } from './config-error.js';
import { readConfig } from './load-config.js';
import { formatPath } from './problems.js';
import type { ServerConfig } from './servers-config.js';

/**
 * Validates a definition that an administrator sent, by the rules of the configuration file. The definition cannot refer to
 * environment variables: otherwise an administrator could send secrets of the gateway to a server.
 */
export function readServer(id: string, definition: unknown): ServerConfig {
  const text = JSON.stringify({ mcpServers: { [id]: definition } });
  const prefix = formatPath(['mcpServers', id]);
  try {
    return readConfig({ text, source: `server ${id}`, env: {} }).mcpServers.get(id)!;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map(({ path, message }) => ({
      path: withoutPrefix(path, prefix),
      message,
    }));
    throw new ConfigError(`server ${id}`, problems, { cause: error });
  }
}

function withoutPrefix(path: string, prefix: string): string {
  if (path === prefix) return 'definition';
  return path.startsWith(`${prefix}.`) ? path.slice(prefix.length + 1) : path;
}
