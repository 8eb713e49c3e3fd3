import type { Command } from 'commander';
import { withAdminOptions, withExamples, type GatewayOptions } from './command-options.js';
import type { ClearOptions } from './decision-reports.js';

/** Commands about decisions of administrators. */
export function addDecisionCommands(program: Command): void {
  const decisions = withExamples(
    program.command('decisions').description('what administrators changed at run time'),
    [
      ['decisions ls', ''],
      ['decisions clear server:github:enabled', 'the configuration file applies again'],
    ],
  );
  withExamples(
    withAdminOptions(decisions.command('ls'))
      .description('list decisions with their effect on the configuration file')
      .action(async (options: GatewayOptions) =>
        (await import('./decision-reports.js')).listDecisions(options),
      ),
    [
      ['decisions ls', ''],
      [
        'decisions ls -o json | jq -r ".decisions[] | select(.overrules) | .id"',
        'those that overrule the file',
      ],
    ],
  );
  withExamples(
    withAdminOptions(decisions.command('clear [decision...]'))
      .description('end decisions, so that the configuration file applies again')
      .option(
        '-a, --all',
        'all decisions except definitions of servers and projects that are not in the file',
      )
      .action(async (ids: string[], options: ClearOptions) =>
        (await import('./decision-reports.js')).clearDecisions(ids, options),
      ),
    [
      ['decisions clear server:github:enabled tool:files:write_file', 'ids from decisions ls'],
      ['decisions clear --all', 'back to the file'],
    ],
  );
}
