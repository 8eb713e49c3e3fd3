import { Integer } from './schema/keys.js';

/** Graceful shutdown. */
export class ShutdownSettings {
  @Integer(
    0,
    3_600_000,
    'Time in milliseconds for calls in flight to finish after SIGTERM; 0 ends them at once.',
  )
  readonly drainMs: number = 25_000;
}
