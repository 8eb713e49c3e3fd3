import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { TargetOptions } from '../client/gateway-target.js';
import { refusesWithoutKey } from '../client/key-probe.js';
import { printable, printableLines } from '../client/printable.js';
import {
  clientSetup,
  endpointUrl,
  KEY_PLACEHOLDER,
  type ClientName,
  type ClientSetup,
} from '../start-page/client-setup.js';
import { CommandError } from './command-error.js';
import { mergeClientConfig } from './client-config-file.js';
import { requiresKeyByConfig, resolveTarget } from './gateway-session.js';
import { Output, type OutputFormat } from './output.js';

export interface ConnectOptions extends TargetOptions {
  readonly project?: string;
  readonly write?: boolean;
  readonly file?: string;
  readonly output: OutputFormat;
}

/** Prints how to connect the client, or with `write` adds the gateway to the configuration file of the client. */
export async function connectClient(name: ClientName, options: ConnectOptions): Promise<void> {
  const { url, key } = await resolveTarget(options);
  const { project, write = false } = options;
  const needsKey = key !== undefined || (await requiresKey(endpointUrl(url, project), options));
  const setup = clientSetup(name, { url, project, needsKey, stdioCommand: ownCommand() });
  const out = new Output(options.output);
  if (write) writeSetup(name, setup, { out, key, needsKey, file: options.file });
  else if (out.format === 'json') out.json({ client: name, ...setup });
  else printSetup(setup, out);
}

interface WriteOptions {
  readonly out: Output;
  readonly key: string | undefined;
  readonly needsKey: boolean;
  readonly file: string | undefined;
}

function writeSetup(name: ClientName, setup: ClientSetup, { out, key, needsKey, file }: WriteOptions): void {
  if (!setup.config)
    throw new CommandError(`${setup.title} has no configuration file; run: ${setup.command}`);
  const config = key === undefined ? setup.config : withKey(setup.config, key);
  const path = file ?? clientFile(setup.file ?? '');
  const outcome = mergeClientConfig(path, config);
  if (out.format === 'json') out.json({ client: name, path, outcome });
  else out.line(printable(`${path} ${outcome}`));
  const isKeyWritten = config !== setup.config;
  if (needsKey && !isKeyWritten && setup.note !== undefined) out.note(setup.note);
}

function printSetup(setup: ClientSetup, out: Output): void {
  const lines = [
    ...(setup.command === undefined ? [] : [`Run: ${setup.command}`]),
    ...(setup.config === undefined
      ? []
      : [
          `${setup.command === undefined ? 'In' : 'Or in'} ${setup.file} (--write adds it):`,
          ...printableLines(JSON.stringify(setup.config, null, 2)),
        ]),
    ...(setup.note === undefined ? [] : [setup.note]),
  ];
  for (const line of lines) out.line(printable(line));
}

/** Whether the gateway requires a key. If the gateway does not run, the configuration on this machine decides. */
async function requiresKey(endpoint: string, options: TargetOptions): Promise<boolean> {
  return (await refusesWithoutKey(endpoint)) ?? (await requiresKeyByConfig(options));
}

/**
 * The command that runs this program. Both paths are absolute, because desktop programs do not have the PATH of a terminal.
 */
const ownCommand = (): [string, ...string[]] => [process.execPath, resolve(process.argv[1] ?? 'gatehouse')];

/**
 * Returns the configuration with the key in place of the placeholder. Returns the same object if there is no placeholder.
 */
function withKey(config: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(config);
  const placeholder = JSON.stringify(KEY_PLACEHOLDER);
  if (!text.includes(placeholder)) return config;
  return JSON.parse(text.replaceAll(placeholder, () => JSON.stringify(key))) as Record<string, unknown>;
}

/** Resolves `~`, and finds the file of Claude Desktop. Any other path is relative to the working directory. */
function clientFile(file: string): string {
  if (file.startsWith('~/')) return join(homedir(), file.slice(2));
  return file === 'claude_desktop_config.json' ? join(claudeDesktopDirectory(), file) : file;
}

function claudeDesktopDirectory(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Claude');
  if (process.platform === 'win32') return join(APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Claude');
  const base =
    XDG_CONFIG_HOME !== undefined && isAbsolute(XDG_CONFIG_HOME)
      ? XDG_CONFIG_HOME
      : join(homedir(), '.config');
  return join(base, 'Claude');
}
