import type { Command } from 'commander';
import { addDecisionCommands } from './decision-commands.js';
import { withExamples, withAdminOptions, type GatewayOptions } from './command-options.js';
import { addProjectDefinitionCommands, addServerDefinitionCommands } from './definition-commands.js';
import { addSessionCommands } from './session-commands.js';

const ACTIONS = [
  ['enable', 'enable a server and wait until it is ready or fails'],
  ['disable', 'stop a server and remove what it offers from all lists'],
  ['reconnect', 'reconnect a server now and wait until it is ready or fails'],
] as const;

/** Commands that use the admin API to show and change the state of the gateway and its servers. */
export function addGatewayCommands(program: Command): void {
  withExamples(
    withAdminOptions(program.command('status'))
      .description('show the status of the gateway; fails if it does not accept requests')
      .action(async (options: GatewayOptions) => (await import('./status-report.js')).showStatus(options)),
    [
      ['status', 'the local gateway'],
      ['status -u https://mcp.example.com -o json', 'a remote gateway, for scripts'],
    ],
  );

  addServers(program);

  const projects = withExamples(program.command('projects').description('projects: named sets of servers'), [
    ['projects ls', ''],
  ]);
  withExamples(
    withAdminOptions(projects.command('ls'))
      .description('list projects and their servers')
      .action(async (options: GatewayOptions) =>
        (await import('./catalog-reports.js')).listProjects(options),
      ),
    [['projects ls -o json | jq -r ".projects[].id"', 'ids only']],
  );
  addProjectDefinitionCommands(projects);

  addSubscriptions(program);
  addSessionCommands(program);
  addDecisionCommands(program);
}

function addServers(program: Command): void {
  const servers = withExamples(program.command('servers').description('servers of the gateway'), [
    ['servers ls', ''],
    ['servers reconnect github', ''],
  ]);
  withExamples(
    withAdminOptions(servers.command('ls'))
      .description('list servers with their state and its reason')
      .action(async (options: GatewayOptions) => (await import('./server-reports.js')).listServers(options)),
    [
      [
        'servers ls -o json | jq -r \'.servers[] | select(.state != "ready") | .id\'',
        'servers that are not ready',
      ],
    ],
  );
  withExamples(
    withAdminOptions(servers.command('show <server>'))
      .description('show one server with its latest stderr output')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./server-reports.js')).showServer(id, options),
      ),
    [['servers show github', '']],
  );
  addServerDefinitionCommands(servers);
  for (const parent of [servers, program])
    for (const [action, description] of ACTIONS)
      withExamples(
        withAdminOptions(parent.command(`${action} <server>`))
          .description(parent === program ? `short for servers ${action}` : description)
          .action(async (id: string, options: GatewayOptions) =>
            (await import('./server-reports.js')).runServerAction(id, action, options),
          ),
        [[`${parent === program ? '' : 'servers '}${action} github`, '']],
      );
}

function addSubscriptions(program: Command): void {
  const subs = withExamples(program.command('subs').description('resource subscriptions of clients'), [
    ['subs ls', ''],
  ]);
  withExamples(
    withAdminOptions(subs.command('ls'))
      .description('list subscriptions')
      .option('-s, --server <server>', 'only resources of this server')
      .option('--client <client>', 'only this client, by its session id in the admin API')
      .option('-q, --query <words>', 'only subscriptions whose URI, server or client contain all words')
      .action(async ({ query, ...options }: GatewayOptions & { query?: string }) => {
        const { listCatalog, SUBSCRIPTIONS } = await import('./catalog-reports.js');
        await listCatalog(SUBSCRIPTIONS, options, query);
      }),
    [
      ['subs ls --server github', ''],
      ['subs ls --query "cursor readme"', 'clients named cursor, resources named readme'],
    ],
  );
  withExamples(
    withAdminOptions(subs.command('end <id>'))
      .description('end a subscription; its client gets no more updates of the resource')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./catalog-reports.js')).endSubscription(id, options),
      ),
    [['subs end 3qk1vT9uXw0e', 'an id from subs ls']],
  );
}
