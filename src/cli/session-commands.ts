import { Option, type Command } from 'commander';
import type { ListOptions } from './catalog-reports.js';
import { withAdminOptions, withExamples, withLimit, type GatewayOptions } from './command-options.js';

/** Commands about sessions of clients. */
export function addSessionCommands(program: Command): void {
  const sessions = withExamples(program.command('sessions').description('sessions of clients'), [
    ['sessions ls', ''],
  ]);
  withExamples(
    withAdminOptions(sessions.command('ls'))
      .description('list open sessions and listen streams, the oldest first')
      .option('-p, --project <project>', 'only sessions that were opened in this project')
      .option('-q, --query <words>', 'only sessions whose id, client or principal contain all words')
      .action(async ({ query, ...options }: ListOptions & { query?: string }) =>
        (await import('./session-reports.js')).listSessions(options, query),
      ),
    [
      ['sessions ls --query cursor', ''],
      ['sessions ls -o json | jq ".sessions[] | select(.streams == 0)"', 'clients that get no notifications'],
    ],
  );
  withExamples(
    withLimit(withAdminOptions(sessions.command('show <session>')))
      .description(
        'show one session: client, principal, scope, calls, subscriptions; or what its client sees',
      )
      .addOption(new Option('--tools', 'the tools that the client sees').conflicts('resources'))
      .option('--resources', 'the resources that the client sees')
      .option('-q, --query <words>', 'with --tools or --resources: only entries that contain all words')
      .action(async (id: string, { tools, resources, ...options }: ShowOptions) =>
        tools || resources
          ? listForSession(id, resources ? 'resources' : 'tools', options)
          : (await import('./session-reports.js')).showSession(id, options),
      ),
    [
      ['sessions show 3f9c2b7a10d4e8c6', 'an id from sessions ls'],
      ['sessions show 3f9c2b7a10d4e8c6 --tools', 'exactly what its tools/list returns'],
    ],
  );
  withExamples(
    withAdminOptions(sessions.command('end <session>'))
      .description('end a session; its client has to initialize a new one')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./session-reports.js')).endSession(id, options),
      ),
    [['sessions end 3f9c2b7a10d4e8c6', '']],
  );
}

interface ShowOptions extends ListOptions {
  readonly tools?: boolean;
  readonly resources?: boolean;
  readonly query?: string;
}

async function listForSession(
  session: string,
  list: 'tools' | 'resources',
  { query, ...options }: ListOptions & { readonly query?: string },
): Promise<void> {
  const { listCatalog, RESOURCES, TOOLS } = await import('./catalog-reports.js');
  if (list === 'tools') await listCatalog(TOOLS, { ...options, session }, query);
  else await listCatalog(RESOURCES, { ...options, session }, query);
}
