import type { Command } from 'commander';
import { AdminApi } from '../client/admin-api.js';
import { targetOf } from './gateway-session.js';

/** Nobody waits longer for a key he pressed. */
const PATIENCE_MS = 1500;
const MOST = 200;

/** Asks the gateway, if there is one. Whatever goes wrong, there is simply nothing to offer. */
export async function lookUp(what: string, command: Command): Promise<readonly string[]> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const api = new AdminApi(await targetOf({}));
    if (what === 'server') return (await api.servers(signal)).map(({ id }) => id);
    if (what === 'project') return (await api.projects()).map(({ id }) => id);
    if (what === 'tool' && command.name() === 'call')
      return (await api.page('tools', { limit: MOST }, signal)).rows.map(({ name }) => name);
    if (what === 'uri')
      return (await api.page('resources', { limit: MOST }, signal)).rows.map(({ uri }) => uri);
    return [];
  } catch {
    return [];
  }
}
