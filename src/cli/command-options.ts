import { InvalidArgumentError, Option, type Command } from 'commander';
import type { TargetOptions } from '../client/gateway-target.js';
import { DEFAULT_CONFIG_PATH } from '../config/config-path.js';
import type { OutputFormat } from './output.js';

/** Options of all commands that send requests to a gateway. */
export interface GatewayOptions extends TargetOptions {
  readonly output: OutputFormat;
}

/** The text after `gatehouse`, and a description, which may be empty. */
type Example = readonly [words: string, description: string];

/** Appends examples to the help of a command. */
export function withExamples(command: Command, examples: readonly Example[]): Command {
  const width = Math.max(...examples.map(([words]) => words.length));
  const lines = examples.map(([words, description]) =>
    `  $ gatehouse ${words.padEnd(width)}  ${description}`.trimEnd(),
  );
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

export const configOption = (): Option =>
  new Option(
    '-c, --config <file>',
    `configuration file (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG_PATH})`,
  );

export const withOutput = (command: Command): Command =>
  command.addOption(
    new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'),
  );

export const withUrl = (command: Command): Command =>
  command
    .option('-u, --url <url>', 'URL of the gateway (default: $GATEHOUSE_URL, else the local configuration)')
    .addOption(configOption());

export const withAdminTarget = (command: Command): Command =>
  withUrl(command).option(
    '--token <token>',
    'admin or viewer token (default: $GATEHOUSE_ADMIN_TOKEN, else the token of the local gateway)',
  );

export const withAdminOptions = (command: Command): Command => withOutput(withAdminTarget(command));

/** For commands that use only the MCP endpoint. */
export const withMcpOptions = (command: Command): Command => withOutput(withKeyAndProject(withUrl(command)));

export const withKeyAndProject = (command: Command): Command =>
  command
    .option('-k, --key <key>', 'client key, if the gateway requires one (default: $GATEHOUSE_KEY)')
    .option('-p, --project <id>', 'limit to what this project offers');

export const withLimit = (command: Command): Command =>
  command.option('-n, --limit <number>', 'maximum number of entries', positiveInteger);

export function positiveInteger(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('It must be a positive integer.');
  return number;
}
