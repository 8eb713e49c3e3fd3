import { Option, type Command } from 'commander';
import type { TargetOptions } from '../client/gateway-target.js';
import { DEFAULT_CONFIG } from '../config/config-path.js';
import type { OutputFormat } from './output.js';

/** What every command that speaks to a gateway takes. */
export interface GatewayOptions extends TargetOptions {
  readonly output: OutputFormat;
}

export const configOption = (): Option =>
  new Option('-c, --config <file>', `the configuration (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG})`);

const outputOption = (): Option =>
  new Option('-o, --output <format>', 'how the answer looks').choices(['table', 'json']).default('table');

export const withOutput = (command: Command): Command => command.addOption(outputOption());

/** Where the gateway is. */
export const withUrl = (command: Command): Command =>
  command
    .option('-u, --url <url>', 'the gateway (default: $GATEHOUSE_URL, else as configured here)')
    .addOption(configOption());

/** Where it is and what lets an administrator in. */
export const withTarget = (command: Command): Command =>
  withUrl(command).option(
    '--token <token>',
    'of an administrator (default: $GATEHOUSE_ADMIN_TOKEN, else as found here)',
  );

export const withGateway = (command: Command): Command => withOutput(withTarget(command));

/** For commands that are clients of the MCP endpoint, and nothing else. */
export const withMcp = (command: Command): Command => withOutput(withKey(withUrl(command)));

export const withKey = (command: Command): Command =>
  command
    .option('-k, --key <key>', 'key of a client, where the gateway asks for one (default: $GATEHOUSE_KEY)')
    .option('-p, --project <id>', 'as this project sees it');
