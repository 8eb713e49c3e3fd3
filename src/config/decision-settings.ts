import { Choice } from './schema/keys.js';

export const DECISION_POLICIES = ['overlay', 'file'] as const;

/** Decisions of administrators. */
export class DecisionSettings {
  @Choice(
    DECISION_POLICIES,
    'Whether decisions of administrators take precedence over this file. With `file`, what the file defines cannot be changed ' +
      'through the admin API, and earlier decisions about it are ignored; disabling a server or tool and revoking a key ' +
      'still work as emergency switches, until `gatehouse decisions clear`.',
  )
  readonly policy: (typeof DECISION_POLICIES)[number] = 'overlay';
}
