import type { Command } from 'commander';
import { withAdminOptions, withExamples, type GatewayOptions } from './command-options.js';
import type { DefinitionOptions, ProjectOptions } from './definition-actions.js';

const withDefinition = (command: Command): Command =>
  withAdminOptions(command).option('-d, --definition <json>', 'definition as JSON, @file, or - for stdin');

/** Commands that change the definitions of servers. */
export function addServerDefinitionCommands(servers: Command): void {
  withExamples(
    withDefinition(servers.command('add <id> [settings...]'))
      .description('add a server and wait until it is ready or fails')
      .action(async (id: string, settings: string[], options: DefinitionOptions) =>
        (await import('./definition-actions.js')).addServer(id, settings, options),
      ),
    [
      ['servers add wiki url=https://wiki.example.com/mcp timeoutMs=30000', 'keys as in mcpServers'],
      ['servers add wiki -d @wiki.json', ''],
    ],
  );
  withExamples(
    withDefinition(servers.command('edit <server> [settings...]'))
      .description('change some settings of a server')
      .action(async (id: string, settings: string[], options: DefinitionOptions) =>
        (await import('./definition-actions.js')).editServer(id, settings, options),
      ),
    [
      ['servers edit wiki timeoutMs=5000 queue:=null', 'null restores the default'],
      ['servers edit wiki tools:=\'{"disabled":["delete_page"]}\'', 'name:=json for lists and objects'],
    ],
  );
  withExamples(
    withAdminOptions(servers.command('rm <server>'))
      .description('remove a server; decisions clear restores a server that is in the configuration file')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./definition-actions.js')).removeServer(id, options),
      ),
    [['servers rm wiki', '']],
  );
}

/** Commands that change projects. */
export function addProjectDefinitionCommands(projects: Command): void {
  withExamples(
    withAdminOptions(projects.command('set <id> [server...]'))
      .description('add a project, or replace its servers and description')
      .option('--description <text>', 'short description of the project')
      .action(async (id: string, servers: string[], options: ProjectOptions) =>
        (await import('./definition-actions.js')).setProject(id, servers, options),
      ),
    [['projects set payments github files --description "payment services"', '']],
  );
  withExamples(
    withAdminOptions(projects.command('rm <project>'))
      .description('remove a project; decisions clear restores a project that is in the configuration file')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./definition-actions.js')).removeProject(id, options),
      ),
    [['projects rm payments', '']],
  );
}
