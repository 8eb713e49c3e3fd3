import { Argument, type Command } from 'commander';
import type { TargetOptions } from '../client/target.js';
import { SHELLS, type Shell } from './completion-scripts.js';
import { examples } from './examples.js';
import { configOption, withOutput, withUrl } from './gateway-options.js';
import type { AuditOptions, KeyCreateOptions } from './local-actions.js';

/** What is done on the machine of a gateway, without its admin API. */
export function addLocalCommands(program: Command): void {
  addKeys(program);
  addChecks(program);
  addCompletion(program);
}

function addKeys(program: Command): void {
  const key = examples(program.command('key').description('keys of clients'), [
    ['key create ci --project payments', ''],
  ]);
  examples(
    withOutput(key.command('create <id>'))
      .description('make a key, and print it once with the line that lets it in')
      .requiredOption('-p, --project <name...>', 'projects it may use; * for all')
      .option('-e, --expires <date>', 'when it ends, for instance 2027-01-01')
      .action(async (id: string, options: KeyCreateOptions) =>
        (await import('./local-actions.js')).makeKey(id, options),
      ),
    [
      ['key create ci --project payments --expires 2027-01-01', ''],
      ['key create ops --project "*" -o json | jq -r .key', 'the key alone'],
    ],
  );
}

function addChecks(program: Command): void {
  const audit = examples(program.command('audit').description('the audit log'), [['audit verify', '']]);
  examples(
    withOutput(audit.command('verify [file]'))
      .description('check that no entry was changed, removed or put in (default: audit.jsonl in stateDir)')
      .addOption(configOption())
      .action(async (file: string | undefined, options: AuditOptions) =>
        (await import('./local-actions.js')).checkAudit(file, options),
      ),
    [
      ['audit verify', 'that of the gateway here'],
      ['audit verify /backup/audit.jsonl -o json', 'another one, for a script'],
    ],
  );
  examples(
    withUrl(program.command('healthcheck'))
      .description('exit 0 if the gateway is alive, for a container')
      .action(async (options: TargetOptions) => (await import('./local-actions.js')).checkHealth(options)),
    [
      ['healthcheck', 'the gateway that runs here'],
      ['healthcheck -u http://127.0.0.1:8080', ''],
    ],
  );
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
    for (const candidate of await complete(program, words, lookUp)) process.stdout.write(`${candidate}\n`);
  });
}
