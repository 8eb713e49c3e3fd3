import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { suggest } from '../config/schema/suggest.js';
import { StateError } from '../cluster/state-error.js';
import { GatewayProblem } from '../client/gateway-problem.js';
import { printableLines } from '../client/printable.js';
import type { Target, TargetOptions } from '../client/target.js';
import { VERSION } from '../version.js';
import { addCatalogCommands } from './catalog-commands.js';
import { CommandFailed } from './command-failed.js';
import { addGatewayCommands } from './gateway-commands.js';
import { configOption, configPath, examples, withKey, withTarget } from './gateway-options.js';
import { Interrupted } from './interrupted.js';
import { addLocalCommands } from './local-commands.js';

/** What the command line starts but does not know. */
export interface Programs {
  serve(options: { readonly config: string }): Promise<void>;
  tui(target: Target, project: string | undefined): Promise<void>;
}

/** Exit codes, for scripts. */
const FAILED = 1;
const WRONG_USAGE = 2;
const NOT_REACHABLE = 3;
const NOT_ALLOWED = 4;
const INTERRUPTED = 130;

const EXIT_CODES = `
Exit codes: 0 done, ${FAILED} failed, ${WRONG_USAGE} wrong usage or configuration, ${NOT_REACHABLE} the gateway cannot be reached, ${NOT_ALLOWED} not allowed.
Colours are left out off a terminal and where NO_COLOR is set.`;

export async function runCommandLine(argv: readonly string[], programs: Programs): Promise<void> {
  // Whoever reads only the first lines has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : FAILED);
  });
  try {
    const program = commandLine(programs);
    requireKnown(program, argv[2]);
    await program.parseAsync(argv);
  } catch (error) {
    // Commander has said what is wrong, or shown the help that was asked for.
    const isSaid = error instanceof CommanderError || error instanceof Interrupted;
    if (!isSaid) process.stderr.write(`gatehouse: ${printableLines(describe(error)).join('\n')}\n`);
    process.exit(exitCode(error));
  }
}

export function commandLine(programs: Programs): Command {
  const program = new Command('gatehouse')
    .description('One MCP endpoint in front of many Model Context Protocol servers.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError()
    .addHelpText('after', EXIT_CODES);

  examples(
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

  examples(
    withKey(withTarget(program.command('tui')))
      .description('look at a running gateway and steer it, in the terminal')
      .action(async ({ project, ...options }: TargetOptions & { project?: string }) => {
        const { targetOf } = await import('./gateway-session.js');
        await programs.tui(await targetOf(options), project);
      }),
    [
      ['tui', 'the gateway that runs here'],
      ['tui -u https://mcp.example.com', 'another one; its token in $GATEHOUSE_ADMIN_TOKEN'],
    ],
  );

  addGatewayCommands(program);
  addCatalogCommands(program);
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

const isWrongInput = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof StateError || error instanceof RangeError;

function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
  if (error instanceof Interrupted) return INTERRUPTED;
  if (error instanceof GatewayProblem && error.kind === 'unreachable') return NOT_REACHABLE;
  if (error instanceof GatewayProblem && error.kind === 'not-allowed') return NOT_ALLOWED;
  return isWrongInput(error) ? WRONG_USAGE : FAILED;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A stack is for faults of ours.
  const isAnswer = isWrongInput(error) || error instanceof CommandFailed || error instanceof GatewayProblem;
  return isAnswer ? error.message : (error.stack ?? error.message);
}
