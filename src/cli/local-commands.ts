import { Argument, type Command } from 'commander';
import type { TargetOptions } from '../client/gateway-target.js';
import {
  configOption,
  withAdminOptions,
  withExamples,
  withOutput,
  withUrl,
  type GatewayOptions,
} from './command-options.js';
import { COMPLETION_SHELLS, type CompletionShell } from './completion-scripts.js';
import type { AuditVerifyOptions, KeyCreateOptions } from './local-actions.js';

/** Commands about client keys, the audit log, the liveness probe and shell completion. */
export function addLocalCommands(program: Command): void {
  addKeys(program);
  addChecks(program);
  addCompletion(program);
}

function addKeys(program: Command): void {
  const key = withExamples(program.command('key').description('client keys'), [
    ['key create ci --project payments', ''],
  ]);
  withExamples(
    withOutput(key.command('create <id>'))
      .description('create a client key and print it with its entry for the configuration')
      .requiredOption('-p, --project <name...>', 'projects that the key grants; * for all')
      .option('-e, --expires <date>', 'expiry date, such as 2027-01-01')
      .action(async (id: string, options: KeyCreateOptions) =>
        (await import('./local-actions.js')).printNewKey(id, options),
      ),
    [
      ['key create ci --project payments --expires 2027-01-01', ''],
      ['key create ops --project "*" -o json | jq -r .key', 'key only'],
    ],
  );
  withExamples(
    withAdminOptions(key.command('ls'))
      .description('list the client keys of the running gateway, with their state and sessions')
      .action(async (options: GatewayOptions) => (await import('./key-reports.js')).listKeys(options)),
    [['key ls', '']],
  );
  withExamples(
    withAdminOptions(key.command('revoke <key>'))
      .description('refuse a client key and end its sessions, until decisions clear key:<id>')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./key-reports.js')).revokeKey(id, options),
      ),
    [['key revoke ci', '']],
  );
}

function addChecks(program: Command): void {
  const audit = withExamples(program.command('audit').description('audit log'), [['audit verify', '']]);
  withExamples(
    withOutput(audit.command('verify [file]'))
      .description(
        'check that no entry was changed, removed or inserted (default file: audit.jsonl in stateDir)',
      )
      .addOption(configOption())
      .action(async (file: string | undefined, options: AuditVerifyOptions) =>
        (await import('./local-actions.js')).verifyAuditLog(file, options),
      ),
    [
      ['audit verify', 'the audit log of the local gateway'],
      ['audit verify /backup/audit.jsonl -o json', 'another file, for scripts'],
    ],
  );
  withExamples(
    withUrl(program.command('healthcheck'))
      .description('exit with 0 if the gateway is alive (for containers)')
      .action(async (options: TargetOptions) => (await import('./local-actions.js')).checkHealth(options)),
    [
      ['healthcheck', 'the local gateway'],
      ['healthcheck -u http://127.0.0.1:8080', ''],
    ],
  );
}

function addCompletion(program: Command): void {
  withExamples(
    program
      .command('completion')
      .addArgument(new Argument('<shell>').choices(COMPLETION_SHELLS))
      .description('print a shell completion script for commands and names of servers, tools and resources')
      .action(async (shell: CompletionShell) => {
        const { COMPLETION_SCRIPTS } = await import('./completion-scripts.js');
        process.stdout.write(COMPLETION_SCRIPTS[shell]);
      }),
    [
      ['completion bash > ~/.local/share/bash-completion/completions/gatehouse', ''],
      ['completion zsh > "${fpath[1]}/_gatehouse"', ''],
      ['completion fish > ~/.config/fish/completions/gatehouse.fish', ''],
    ],
  );
  program.command('__complete [words...]', { hidden: true }).action(async (words: string[]) => {
    const [{ complete }, { lookUpNames }] = await Promise.all([
      import('./completion.js'),
      import('./completion-lookup.js'),
    ]);
    for (const candidate of await complete(program, words, lookUpNames))
      process.stdout.write(`${candidate}\n`);
  });
}
