import { Command, CommanderError } from 'commander';
import { suggest } from '../config/schema/suggest.js';
import type { GatewayTarget, TargetOptions } from '../client/gateway-target.js';
import { VERSION } from '../version.js';
import { addCatalogCommands } from './catalog-commands.js';
import { EXIT_CODES, exitWithError } from './command-error.js';
import { configOption, withAdminTarget, withExamples, withKeyAndProject } from './command-options.js';
import { addConfigCommands } from './config-commands.js';
import { addGatewayCommands } from './gateway-commands.js';
import { addLocalCommands } from './local-commands.js';
import { addStartCommands } from './start-commands.js';

/**
 * The programs that the command line starts. The caller passes functions, so that a program is loaded only when it starts.
 */
interface Programs {
  serve(options: { readonly config?: string }): Promise<void>;
  tui(target: GatewayTarget, project: string | undefined): Promise<void>;
}

const EXIT_CODE_HELP = `
Exit codes: 0 success, ${EXIT_CODES.failed} failure, ${EXIT_CODES.wrongUsage} wrong usage or configuration, ${EXIT_CODES.notReachable} gateway not reachable,
${EXIT_CODES.notAllowed} not allowed, ${EXIT_CODES.interrupted} interrupted.
Colours are used on a terminal only, and never if NO_COLOR is set.`;

/** Runs the command in `argv`. After a failure, ends the process with the exit code of the failure. */
export async function runCommandLine(argv: readonly string[], programs: Programs): Promise<void> {
  // A reader such as `head` closes the pipe before it has read everything. That is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : EXIT_CODES.failed);
  });
  try {
    const program = commandLine(programs);
    requireKnownCommand(program, argv[2]);
    await program.parseAsync(argv);
  } catch (error) {
    // Commander has printed the error or the requested help.
    if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : EXIT_CODES.wrongUsage);
    exitWithError(error);
  }
}

export function commandLine(programs: Programs): Command {
  const program = new Command('gatehouse')
    .description('One MCP endpoint in front of many Model Context Protocol servers.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError();
  withExamples(program, [
    ['--config /etc/gatehouse.yaml', 'run the gateway'],
    ['status', 'status of the local gateway'],
    ['tui', 'terminal UI for the local gateway'],
    ['tools call everything__echo message=hello', 'call a tool as an MCP client'],
  ]).addHelpText('after', EXIT_CODE_HELP);

  withExamples(
    program
      .command('serve', { isDefault: true })
      .description('run the gateway (default command)')
      .addOption(configOption())
      .action((options: { config?: string }) => programs.serve(options)),
    [
      ['serve --config /etc/gatehouse.yaml', ''],
      ['--config /etc/gatehouse.yaml', 'the same'],
    ],
  );

  withExamples(
    withKeyAndProject(withAdminTarget(program.command('tui')))
      .description('monitor and manage a running gateway in the terminal')
      .action(async ({ project, ...options }: TargetOptions & { project?: string }) => {
        const { resolveTarget } = await import('./gateway-session.js');
        await programs.tui(await resolveTarget(options), project);
      }),
    [
      ['tui', 'the local gateway'],
      ['tui -u https://mcp.example.com', 'a remote gateway, with the token in $GATEHOUSE_ADMIN_TOKEN'],
    ],
  );

  addGatewayCommands(program);
  addCatalogCommands(program);
  addConfigCommands(program);
  addLocalCommands(program);
  addStartCommands(program);
  return program;
}

/**
 * Prints an error and throws if the first word is neither an option nor a command. Without this check, commander would
 * report the word as an excess argument of the default command `serve`.
 */
function requireKnownCommand(program: Command, word: string | undefined): void {
  if (word === undefined || word.startsWith('-') || word === 'help') return;
  const commands = program.commands.map((command) => command.name());
  if (commands.includes(word)) return;
  const suggestion = suggest(word, commands);
  program.error(
    `error: unknown command '${word}'${suggestion === undefined ? '' : `, did you mean ${suggestion}?`}`,
  );
}
