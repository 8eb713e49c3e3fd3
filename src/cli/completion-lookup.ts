import type { Command } from 'commander';
import { AdminApi } from '../client/admin-api.js';
import { resolveTarget } from './gateway-session.js';

/** Nobody waits longer for a key he pressed. */
const PATIENCE_MS = 1500;
const MOST = 200;

/** Asks the gateway, if there is one. Whatever goes wrong, there is simply nothing to offer. */
export async function lookUpNames(
  what: string,
  command: Command,
  given: readonly string[],
): Promise<readonly string[]> {
  try {
    return await namesOf(what, command, given, AbortSignal.timeout(PATIENCE_MS));
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
    return (await api.page('resources', { limit: MOST }, signal)).rows.map(({ uri }) => uri);
  if (what === 'id' && group === 'subs')
    return (await api.page('subscriptions', { limit: MOST }, signal)).rows.map(({ id }) => id);
  return [];
}

/** A call takes what clients call it, a switch the server's own name of what is not as it would be then. */
async function toolsFor(
  action: string,
  [server = '']: readonly string[],
  api: AdminApi,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (action === 'call')
    return (await api.page('tools', { limit: MOST }, signal)).rows.map(({ name }) => name);
  const tools = await api.serverTools(server, signal);
  return tools.filter(({ enabled }) => enabled === (action === 'disable')).map(({ own }) => own);
}
