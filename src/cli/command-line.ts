import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { StateError } from '../cluster/state-error.js';
import { VERSION } from '../version.js';

/** What the command line starts but does not know. */
export interface Programs {
  serve(options: { readonly config: string }): Promise<void>;
}

/** The command ran, and this is its answer. */
class CommandFailed extends Error {}

const DEFAULT_CONFIG = 'config/gatehouse.yaml';

/** Exit codes: 0 done, 1 failed, 2 wrong usage or configuration. */
export async function runCommandLine(argv: readonly string[], programs: Programs): Promise<void> {
  try {
    await commandLine(programs).parseAsync(argv);
  } catch (error) {
    // Commander has said what is wrong, or shown the help that was asked for.
    if (!(error instanceof CommanderError)) process.stderr.write(`gatehouse: ${describe(error)}\n`);
    process.exit(exitCode(error));
  }
}

function commandLine(programs: Programs): Command {
  const program = new Command('gatehouse')
    .description('One MCP endpoint in front of many Model Context Protocol servers.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError();

  program
    .command('serve', { isDefault: true })
    .description('run the gateway')
    .option('-c, --config <file>', `the configuration (default: $GATEHOUSE_CONFIG, else ${DEFAULT_CONFIG})`)
    .action(({ config }: { config?: string }) =>
      programs.serve({ config: config ?? process.env['GATEHOUSE_CONFIG'] ?? DEFAULT_CONFIG }),
    );

  program
    .command('key')
    .description('keys of clients')
    .command('create <id>')
    .description('make a key, and print it once with the line that lets it in')
    .requiredOption('-p, --project <name...>', 'projects it may use; * for all')
    .option('-e, --expires <date>', 'when it ends, for instance 2027-01-01')
    .action(async (id: string, options: { project: string[]; expires?: string }) => {
      const { createKey } = await import('./key-create.js');
      const { project: projects, expires } = options;
      const { key, configLine } = createKey({ id, projects, ...(expires === undefined ? {} : { expires }) });
      print(`${key}\n\nUnder auth.apiKeys in the configuration:\n${configLine}`);
    });

  program
    .command('audit')
    .description('the audit log')
    .command('verify [file]')
    .description('check that no entry was changed, removed or put in (default: .gatehouse/audit.jsonl)')
    .action(async (file = '.gatehouse/audit.jsonl') => {
      const { verifyAudit } = await import('../admin/audit/verify-audit.js');
      const verdict = await verifyAudit(file);
      if (!verdict.ok) throw new CommandFailed(`${verdict.file}, line ${verdict.line}: ${verdict.problem}`);
      print([`${verdict.entries} entries, none touched`, ...verdict.notes].join('\n'));
    });

  program
    .command('healthcheck')
    .description('exit 0 if the gateway is alive, for a container')
    .option('-u, --url <url>', 'its address', 'http://127.0.0.1:3000')
    .action(async ({ url }: { url: string }) => {
      const { healthcheck } = await import('./healthcheck.js');
      if (!(await healthcheck(url))) throw new CommandFailed(`${url} is not healthy`);
    });

  return program;
}

const isWrongInput = (error: unknown): boolean =>
  error instanceof ConfigError || error instanceof StateError || error instanceof RangeError;

function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return isWrongInput(error) ? 2 : 1;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A stack is for faults of ours.
  const isAnswer = isWrongInput(error) || error instanceof CommandFailed;
  return isAnswer ? error.message : (error.stack ?? error.message);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
