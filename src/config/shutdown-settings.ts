import { Integer } from './schema/keys.js';

/** Graceful shutdown. */
export class ShutdownSettings {
  @Integer(
    0,
    3_600_000,
    'Time in milliseconds for calls in flight to finish after SIGTERM; 0 ends them at once. The process ends at most one second later.',
  )
  readonly drainMs: number = 25_000;

  @Integer(
    0,
    3_600_000,
    'Time in milliseconds after SIGTERM, as part of drainMs, in which requests are still accepted although /health/ready answers ' +
      '503. Choose a longer time than load balancers need to notice the 503. SIGINT skips this time.',
  )
  readonly acceptMs: number = 5000;
}
