import { Argument, Option, type Command } from 'commander';
import { configPath } from '../config/config-path.js';
import { CommandFailed } from './command-failed.js';
import { SHELLS, type Shell } from './completion-scripts.js';
import type { DataFormat } from './config-actions.js';
import { configOption, examples } from './gateway-options.js';

/** What needs no gateway that runs. */
export function addLocalCommands(program: Command): void {
  addConfig(program.command('config').description('the configuration file'));
  addKeysAndChecks(program);
  addCompletion(program);
}

const dataFormat = (): Option =>
  new Option('-o, --output <format>', 'what is printed').choices(['yaml', 'json']).default('yaml');

function addConfig(config: Command): void {
  examples(
    config
      .command('check [file]')
      .description('whether the gateway would start with it; names every key that is wrong')
      .action(async (file: string | undefined) =>
        (await import('./config-actions.js')).checkConfig(configPath(file)),
      ),
    [['config check config/gatehouse.yaml', '']],
  );
  config
    .command('print')
    .description('the configuration in force: defaults, variables and overrides filled in, secrets masked')
    .addOption(configOption())
    .addOption(dataFormat())
    .action(async ({ config: file, output }: { config?: string; output: DataFormat }) =>
      (await import('./config-actions.js')).printConfig(configPath(file), output),
    );
  examples(
    config
      .command('import <file>')
      .description(
        'the servers of Claude Desktop, Claude Code, Cursor, Windsurf or VS Code, as ours; - is stdin',
      )
      .addOption(dataFormat())
      .action(async (file: string, { output }: { output: DataFormat }) =>
        (await import('./config-actions.js')).importConfig(file, output),
      ),
    [
      ['config import claude_desktop_config.json > gatehouse.yaml', ''],
      ['config import .vscode/mcp.json', ''],
    ],
  );
  config
    .command('schema')
    .description('the JSON Schema, for editors')
    .action(async () => (await import('./config-actions.js')).printSchema());
}

function addKeysAndChecks(program: Command): void {
  examples(
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
        const { key, configLine } = createKey({
          id,
          projects,
          ...(expires === undefined ? {} : { expires }),
        });
        print(`${key}\n\nUnder auth.apiKeys in the configuration:\n${configLine}`);
      }),
    [['key create ci --project payments --expires 2027-01-01', '']],
  );

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
}

function addCompletion(program: Command): void {
  examples(
    program
      .command('completion')
      .addArgument(new Argument('<shell>').choices(SHELLS))
      .description(
        'a script that lets the shell complete commands and the names of servers, tools and resources',
      )
      .action(async (shell: Shell) => {
        const { SCRIPTS } = await import('./completion-scripts.js');
        process.stdout.write(SCRIPTS[shell]);
      }),
    [
      ['completion bash > ~/.local/share/bash-completion/completions/gatehouse', ''],
      ['completion zsh > "${fpath[1]}/_gatehouse"', ''],
      ['completion fish > ~/.config/fish/completions/gatehouse.fish', ''],
    ],
  );
  program.command('__complete [words...]', { hidden: true }).action(async (words: string[]) => {
    const [{ complete }, { lookUp }] = await Promise.all([
      import('./completion.js'),
      import('./completion-lookup.js'),
    ]);
    for (const candidate of await complete(program, words, lookUp)) print(candidate);
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
