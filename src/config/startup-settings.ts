import { Integer } from './schema/keys.js';

/** Start of the servers. */
export class StartupSettings {
  @Integer(
    1,
    1_000,
    'Maximum number of servers that start at once; one that takes longer than three seconds no longer counts. The gateway ' +
      'listens before the first server starts. The default is twice the number of CPU cores.',
  )
  readonly parallel?: number;
}
