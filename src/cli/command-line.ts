import { Command, CommanderError } from 'commander';
import { configPath } from '../config/config-path.js';
import { suggest } from '../config/schema/suggest.js';
import type { GatewayTarget, TargetOptions } from '../client/gateway-target.js';
import { VERSION } from '../version.js';
import { addCatalogCommands } from './catalog-commands.js';
import { addConfigCommands } from './config-commands.js';
import { withExamples } from './examples.js';
import { EXIT_CODES, exitWithError } from './command-error.js';
import { addGatewayCommands } from './gateway-commands.js';
import { configOption, withKey, withTarget } from './command-options.js';
import { addLocalCommands } from './local-commands.js';

/** What the command line starts but does not know. */
export interface Programs {
  serve(options: { readonly config: string }): Promise<void>;
  tui(target: GatewayTarget, project: string | undefined): Promise<void>;
}

const EXIT_CODE_HELP = `
Exit codes: 0 done, ${EXIT_CODES.failed} failed, ${EXIT_CODES.wrongUsage} wrong usage or configuration, ${EXIT_CODES.notReachable} the gateway cannot be reached,
${EXIT_CODES.notAllowed} not allowed, ${EXIT_CODES.interrupted} interrupted.
Colours are left out off a terminal and where NO_COLOR is set.`;

export async function runCommandLine(argv: readonly string[], programs: Programs): Promise<void> {
  // Whoever reads only the first lines has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : EXIT_CODES.failed);
  });
  try {
    const program = commandLine(programs);
    requireKnown(program, argv[2]);
    await program.parseAsync(argv);
  } catch (error) {
    // Commander has said what is wrong, or shown the help that was asked for.
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
    ['status', 'how the one that runs here is doing'],
    ['tui', 'look at it and steer it'],
    ['tools call everything__echo message=hello', 'use it as a client does'],
  ]).addHelpText('after', EXIT_CODE_HELP);

  withExamples(
    program
      .command('serve', { isDefault: true })
      .description('run the gateway')
      .addOption(configOption())
      .action(({ config }: { config?: string }) => programs.serve({ config: configPath(config) })),
    [
      ['serve --config /etc/gatehouse.yaml', ''],
      ['--config /etc/gatehouse.yaml', 'the same'],
    ],
  );

  withExamples(
    withKey(withTarget(program.command('tui')))
      .description('look at a running gateway and steer it, in the terminal')
      .action(async ({ project, ...options }: TargetOptions & { project?: string }) => {
        const { resolveTarget } = await import('./gateway-session.js');
        await programs.tui(await resolveTarget(options), project);
      }),
    [
      ['tui', 'the gateway that runs here'],
      ['tui -u https://mcp.example.com', 'another one; its token in $GATEHOUSE_ADMIN_TOKEN'],
    ],
  );

  addGatewayCommands(program);
  addCatalogCommands(program);
  addConfigCommands(program);
  addLocalCommands(program);
  return program;
}

/** Without this, a word that is no command would be an argument too many of `serve`, which nobody wrote. */
function requireKnown(program: Command, word: string | undefined): void {
  if (word === undefined || word.startsWith('-') || word === 'help') return;
  const known = program.commands.map((command) => command.name());
  if (known.includes(word)) return;
  const meant = suggest(word, known);
  program.error(`error: unknown command '${word}'${meant === undefined ? '' : `, did you mean ${meant}?`}`);
}
