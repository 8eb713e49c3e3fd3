import type { GatehouseConfig } from './gatehouse-config.js';
import type { HttpSettings } from './http-settings.js';
import { isLoopback } from './loopback.js';
import type { KeyPath, ConfigProblems } from './problems.js';

const REMOTE_WITHOUT_AUTH =
  'every client that reaches this address could call every tool, because clients are not authenticated: configure auth, ' +
  'use 127.0.0.1, or set http.allowRemoteWithoutAuth: true if a proxy in front of the gateway authenticates clients';

/** Whether listening on this address requires authentication. */
export const needsAuth = (http: HttpSettings): boolean =>
  !http.allowRemoteWithoutAuth && !isLoopback(http.host);

/** Reports problems that involve several sections. */
export function crossCheck(config: GatehouseConfig, problems: ConfigProblems): void {
  const { http, auth, mcpServers, projects, readiness, instructions } = config;
  if (!auth.isConfigured && needsAuth(http)) problems.add(['http', 'host'], REMOTE_WITHOUT_AUTH);
  for (const [id, { servers }] of projects)
    reportUnknownServers(servers, ['projects', id, 'servers'], mcpServers, problems);
  if (Array.isArray(instructions.include))
    reportUnknownServers(instructions.include, ['instructions', 'include'], mcpServers, problems);
  reportUnknownServers(readiness.requireServers, ['readiness', 'requireServers'], mcpServers, problems);
}

function reportUnknownServers(
  ids: readonly string[],
  path: KeyPath,
  servers: ReadonlyMap<string, unknown>,
  problems: ConfigProblems,
): void {
  for (const [index, id] of ids.entries())
    if (!servers.has(id)) problems.add([...path, index], `there is no server \`${id}\``);
}
