import { Choice } from './schema/keys.js';

export const DECISION_POLICIES = ['overlay', 'file'] as const;

/** Decisions of administrators. */
export class DecisionSettings {
  @Choice(
    DECISION_POLICIES,
    'Whether decisions of administrators (`overlay`) or this file (`file`) take precedence. With `file`, what the file defines ' +
      'cannot be changed through the admin API, and earlier decisions about it are ignored. Disabling a server or tool and ' +
      'revoking a key still work, as emergency switches, until `gatehouse decisions clear` ends them.',
  )
  readonly policy: (typeof DECISION_POLICIES)[number] = 'overlay';
}
