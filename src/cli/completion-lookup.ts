import type { Command } from 'commander';
import { AdminApi } from '../client/admin-api.js';
import { resolveTarget } from './gateway-session.js';

/** Maximum time that a user waits after pressing Tab. */
const LOOKUP_TIMEOUT_MS = 1500;
const MAX_CANDIDATES = 200;

/**
 * Asks the gateway for the values that an argument or option can have. Resolves with an empty list after an error, because
 * a completion cannot print a message.
 */
export async function lookUpNames(
  argumentOrOption: string,
  command: Command,
  precedingArguments: readonly string[],
): Promise<readonly string[]> {
  try {
    return await namesOf(
      argumentOrOption,
      command,
      precedingArguments,
      AbortSignal.timeout(LOOKUP_TIMEOUT_MS),
    );
  } catch {
    return [];
  }
}

async function namesOf(
  argumentOrOption: string,
  command: Command,
  precedingArguments: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const group = command.parent?.name();
  const api = new AdminApi(await resolveTarget({}, () => {}));
  if (argumentOrOption === 'server') return (await api.servers(signal)).map(({ id }) => id);
  if (argumentOrOption === 'project' && group !== 'key')
    return (await api.projects(signal)).map(({ id }) => id);
  if (argumentOrOption === 'key' && group === 'key') return (await api.keys(signal)).map(({ id }) => id);
  if (argumentOrOption === 'client' || argumentOrOption === 'session')
    return (await api.page('sessions', { limit: MAX_CANDIDATES }, signal)).rows.map(({ id }) => id);
  if (argumentOrOption === 'decision') return (await api.decisions(signal)).decisions.map(({ id }) => id);
  if (argumentOrOption === 'tool') return toolNamesFor(command.name(), precedingArguments, api, signal);
  if (argumentOrOption === 'uri')
    return (await api.page('resources', { limit: MAX_CANDIDATES }, signal)).rows.map(({ uri }) => uri);
  if (argumentOrOption === 'id' && group === 'subs')
    return (await api.page('subscriptions', { limit: MAX_CANDIDATES }, signal)).rows.map(({ id }) => id);
  return [];
}

/** Public names for `tools call`. For `tools enable` and `tools disable`, own names of the tools that the command can change. */
async function toolNamesFor(
  action: string,
  [server = '']: readonly string[],
  api: AdminApi,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (action === 'call')
    return (await api.page('tools', { limit: MAX_CANDIDATES }, signal)).rows.map(({ name }) => name);
  const tools = await api.serverTools(server, signal);
  return tools
    .filter(({ enabled }) => (action === 'disable' ? enabled : !enabled))
    .map(({ ownName }) => ownName);
}
