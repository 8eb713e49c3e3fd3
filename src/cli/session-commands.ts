import type { Command } from 'commander';
import type { ListOptions } from './catalog-reports.js';
import { withAdminOptions, withExamples, type GatewayOptions } from './command-options.js';

/** Commands about sessions of clients. */
export function addSessionCommands(program: Command): void {
  const sessions = withExamples(program.command('sessions').description('sessions of clients'), [
    ['sessions ls', ''],
  ]);
  withExamples(
    withAdminOptions(sessions.command('ls'))
      .description('list open sessions, the oldest first')
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
    withAdminOptions(sessions.command('show <session>'))
      .description('show one session: client, principal, servers in its scope, subscriptions')
      .action(async (id: string, options: GatewayOptions) =>
        (await import('./session-reports.js')).showSession(id, options),
      ),
    [['sessions show 3f9c2b7a10d4e8c6', 'an id from sessions ls']],
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
