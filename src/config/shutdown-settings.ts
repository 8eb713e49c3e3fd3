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
    'Time in milliseconds, as part of drainMs, in which requests are still accepted after SIGTERM while /health/ready answers 503; longer than load balancers need to notice. SIGINT skips it.',
  )
  readonly acceptMs: number = 5000;
}
