import { Whole } from './schema/keys.js';

/** How the gateway ends. */
export class ShutdownSettings {
  @Whole(0, 3_600_000, 'Milliseconds that calls in flight get to finish after SIGTERM; 0 cuts them off.')
  readonly drainMs: number = 25_000;
}
