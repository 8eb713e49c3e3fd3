import type { Command } from 'commander';
import { AdminApi } from '../client/admin-api.js';
import { resolveTarget } from './gateway-session.js';

/** A user who pressed Tab does not wait longer. */
const LOOKUP_TIMEOUT_MS = 1500;
const MAX_CANDIDATES = 200;

/** Asks the gateway for names. Any error gives no candidates, because a completion has no place to report it. */
export async function lookUpNames(
  what: string,
  command: Command,
  given: readonly string[],
): Promise<readonly string[]> {
  try {
    return await namesOf(what, command, given, AbortSignal.timeout(LOOKUP_TIMEOUT_MS));
  } catch {
    return [];
  }
}

async function namesOf(
  what: string,
  command: Command,
  given: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const group = command.parent?.name();
  const api = new AdminApi(await resolveTarget({}));
  if (what === 'server') return (await api.servers(signal)).map(({ id }) => id);
  if (what === 'project' && group !== 'key') return (await api.projects(signal)).map(({ id }) => id);
  if (what === 'client') return (await api.sessions(signal)).map(({ id }) => id);
  if (what === 'tool') return toolsFor(command.name(), given, api, signal);
  if (what === 'uri')
    return (await api.page('resources', { limit: MAX_CANDIDATES }, signal)).rows.map(({ uri }) => uri);
  if (what === 'id' && group === 'subs')
    return (await api.page('subscriptions', { limit: MAX_CANDIDATES }, signal)).rows.map(({ id }) => id);
  return [];
}

/** `call` takes public names; `enable` and `disable` take own names of tools that are not in that state yet. */
async function toolsFor(
  action: string,
  [server = '']: readonly string[],
  api: AdminApi,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (action === 'call')
    return (await api.page('tools', { limit: MAX_CANDIDATES }, signal)).rows.map(({ name }) => name);
  const tools = await api.serverTools(server, signal);
  return tools.filter(({ enabled }) => enabled === (action === 'disable')).map(({ ownName }) => ownName);
}
