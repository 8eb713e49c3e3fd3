import { AdminApi } from '../client/admin-api.js';
import { resolveGatewayTarget, type GatewayTarget, type TargetOptions } from '../client/gateway-target.js';
import { configFile } from '../config/config-path.js';
import { printable } from '../client/printable.js';
import type { GatewayOptions } from './command-options.js';
import { Output } from './output.js';

interface GatewaySession {
  readonly target: GatewayTarget;
  readonly api: AdminApi;
  readonly out: Output;
}

/** The gateway that the options, the environment or the local configuration name. */
export function resolveTarget(
  options: TargetOptions,
  note: (text: string) => void = noteOnStderr,
): Promise<GatewayTarget> {
  return resolveGatewayTarget(options, process.env, async (config) => {
    // Loaded on demand, because reading a configuration loads the whole schema.
    const { findLocalGateway } = await import('../client/local-gateway.js');
    return findLocalGateway(configFile(config), process.env, note);
  });
}

/**
 * Whether the configuration on this machine requires that clients send API keys or tokens. False if the options or the
 * environment name the URL, because the gateway may then have another configuration.
 */
export async function requiresKeyByConfig({ url, config }: TargetOptions): Promise<boolean> {
  if (url !== undefined || process.env['GATEHOUSE_URL']) return false;
  const { hasClientAuth } = await import('../client/local-gateway.js');
  return hasClientAuth(configFile(config));
}

const noteOnStderr = (text: string): void => void process.stderr.write(`${printable(text)}\n`);

export async function resolveStateDir({ config }: Pick<TargetOptions, 'config'>): Promise<string> {
  const { findLocalStateDir } = await import('../client/local-gateway.js');
  return findLocalStateDir(configFile(config), process.env);
}

export async function openGateway(options: GatewayOptions): Promise<GatewaySession> {
  const target = await resolveTarget(options);
  return { target, api: new AdminApi(target), out: new Output(options.output) };
}
