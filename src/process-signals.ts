import type { LoggerService } from '@nestjs/common';
import { killAllProcessGroups } from './backends/stdio/process-group.js';

interface SignalOptions {
  readonly drainMs: number;
  /** Called after the application has closed. */
  readonly afterClose: () => Promise<void>;
}

/** Maximum time from the drain deadline to the exit of the process. In this time, the gateway stops its child processes. */
const EXIT_TIMEOUT_MS = 800;

/**
 * Ends the process on SIGTERM and SIGINT. After the first signal the gateway drains, and the process ends at the latest one
 * second after the drain deadline. A second signal ends the process at once. Child processes that still run are killed at
 * every exit, unless SIGKILL ended the gateway itself.
 */
export function exitOnSignals(
  app: { close(signal?: string): Promise<void> },
  logger: LoggerService,
  { drainMs, afterClose }: SignalOptions,
): void {
  let isClosing = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isClosing) {
      logger.warn({ message: 'second signal: exiting at once', signal });
      process.exit(1);
    }
    isClosing = true;
    logger.log({ message: 'shutting down', signal });
    setTimeout(() => {
      logger.warn({ message: 'shutdown took too long: exiting at once' });
      process.exit(0);
    }, drainMs + EXIT_TIMEOUT_MS);
    app
      .close(signal)
      .then(afterClose)
      .then(
        () => process.exit(0),
        (error: unknown) => {
          logger.error(error);
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('exit', killAllProcessGroups);
  process.on('unhandledRejection', (reason) =>
    logger.error({ message: 'unhandled rejection', cause: String(reason) }),
  );
  process.on('uncaughtException', (error) => {
    logger.error({ message: 'uncaught exception', stack: error.stack });
    process.exit(1);
  });
}
