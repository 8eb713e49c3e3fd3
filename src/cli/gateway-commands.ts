import type { Command } from 'commander';
import { withExamples } from './examples.js';
import { withGateway, type GatewayOptions } from './command-options.js';

const ACTIONS = [
  ['enable', 'start a server, also one of the file that was deleted; waits until it is up or fails'],
  ['disable', 'stop a server; its tools and resources leave every list'],
  ['reconnect', 'connect a server anew, at once; waits until it is up or fails'],
] as const;

/** What a gateway and its servers are doing, and what they should do. */
export function addGatewayCommands(program: Command): void {
  withExamples(
    withGateway(program.command('status'))
      .description('how the gateway is doing; fails when it takes no requests')
      .action(async (options: GatewayOptions) => (await import('./status-report.js')).showStatus(options)),
    [
      ['status', 'the gateway that runs here'],
      ['status -u https://mcp.example.com -o json', 'another one, for a script'],
    ],
  );

  addServers(program);

  const projects = withExamples(program.command('projects').description('views on some of the servers'), [
    ['projects ls', ''],
  ]);
  withExamples(
    withGateway(projects.command('ls'))
      .description('every project, with its servers')
      .action(async (options: GatewayOptions) =>
        (await import('./catalog-reports.js')).listProjects(options),
      ),
    [['projects ls -o json | jq -r ".projects[].id"', 'names alone']],
  );

  addSubscriptions(program);
}

function addServers(program: Command): void {
  const servers = withExamples(program.command('servers').description('the servers behind the gateway'), [
    ['servers ls', ''],
    ['servers reconnect github', ''],
  ]);
  withExamples(
    withGateway(servers.command('ls'))
      .description('every server, with its state and why')
      .action(async (options: GatewayOptions) => (await import('./server-reports.js')).listServers(options)),
    [
      [
        'servers ls -o json | jq -r \'.servers[] | select(.state != "ready") | .id\'',
        'those that are not ready',
      ],
    ],
  );
  withExamples(
    withGateway(servers.command('show <server>'))
      .description('one server, with its last words on stderr')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./server-reports.js')).showServer(id, options),
      ),
    [['servers show github', '']],
  );
  for (const parent of [servers, program])
    for (const [action, description] of ACTIONS)
      withExamples(
        withGateway(parent.command(`${action} <server>`))
          .description(parent === program ? `the same as servers ${action}` : description)
          .action(async (id: string, options: GatewayOptions) =>
            (await import('./server-reports.js')).runServerAction(id, action, options),
          ),
        [[`${parent === program ? '' : 'servers '}${action} github`, '']],
      );
}

function addSubscriptions(program: Command): void {
  const subs = withExamples(program.command('subs').description('subscriptions to resources'), [
    ['subs ls', ''],
  ]);
  withExamples(
    withGateway(subs.command('ls'))
      .description('who is subscribed to what')
      .option('-s, --server <server>', 'only to resources of this server')
      .option('--client <client>', 'only of this client, by the id in the list of sessions')
      .option('-q, --query <words>', 'only those in whose URI, server or client all of these words occur')
      .action(async ({ query, ...options }: GatewayOptions & { query?: string }) => {
        const { listCatalog, SUBSCRIPTIONS } = await import('./catalog-reports.js');
        await listCatalog(SUBSCRIPTIONS, options, query);
      }),
    [
      ['subs ls --server github', ''],
      ['subs ls --query "cursor readme"', 'of clients called Cursor, to what is called so'],
    ],
  );
  withExamples(
    withGateway(subs.command('end <id>'))
      .description('end a subscription; its client hears no more of the resource')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./catalog-reports.js')).endSubscription(id, options),
      ),
    [['subs end 3qk1vT9uXw0e', 'an id from the list']],
  );
}
