import { Argument, type Command } from 'commander';
import type { TargetOptions } from '../client/gateway-target.js';
import { configPath } from '../config/config-path.js';
import { CLIENT_NAMES, type ClientName } from '../start-page/client-setup.js';
import { withExamples, withKeyAndProject, withMcpOptions, withUrl } from './command-options.js';
import type { ConnectOptions } from './connect-action.js';

/** Commands for the first steps: they create a configuration and connect clients. */
export function addStartCommands(program: Command): void {
  withExamples(
    program
      .command('init [file]')
      .description('write a configuration file with comments; never changes an existing file')
      .action(async (file: string | undefined) =>
        (await import('./init-action.js')).initConfig(configPath(file)),
      ),
    [
      ['init', 'the file that serve uses'],
      ['init gateway.yaml', ''],
    ],
  );
  withExamples(
    withMcpOptions(program.command('connect'))
      .addArgument(new Argument('<client>').choices(CLIENT_NAMES))
      .description("print how a client connects to the gateway, or add it to the client's configuration")
      .option('-w, --write', "merge the entry into the client's file; other entries stay")
      .option('--file <file>', 'file of the client, if it is not in its usual place')
      .action(async (client: ClientName, options: ConnectOptions) =>
        (await import('./connect-action.js')).connectClient(client, options),
      ),
    [
      ['connect cursor', 'print the configuration'],
      ['connect vscode --write --project docs', 'write .vscode/mcp.json'],
    ],
  );
  withExamples(
    withKeyAndProject(withUrl(program.command('stdio')))
      .description('serve MCP on stdin and stdout over a running gateway, for clients that speak only stdio')
      .action(async (options: TargetOptions & { project?: string }) =>
        (await import('./stdio-action.js')).runStdio(options),
      ),
    [
      ['stdio', 'the local gateway'],
      ['stdio -u https://mcp.example.com', 'a remote gateway, with the key in $GATEHOUSE_KEY'],
    ],
  );
}
