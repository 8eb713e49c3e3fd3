import { printable } from '../client/printable.js';
import type { GatewayOptions } from './command-options.js';
import { openGateway } from './gateway-session.js';

/** Reloads the configuration. Prints which keys need a restart, and which decisions overrule the file. */
export async function reloadConfig(options: GatewayOptions): Promise<void> {
  const { api, out } = await openGateway(options);
  const outcome = await api.reloadConfig();
  if (out.format === 'json') {
    out.json(outcome);
    return;
  }
  const { restartNeeded, overruledBy } = outcome;
  out.line('the configuration was reloaded');
  if (restartNeeded.length > 0) out.note(`restart needed for ${restartNeeded.join(', ')}`);
  if (overruledBy.length > 0) out.note(printable(`overruled by decisions: ${overruledBy.join(', ')}`));
}
