import type { LoggerService } from '@nestjs/common';
import { killAllProcessGroups } from './backends/stdio/process-group.js';

interface SignalOptions {
  readonly drainMs: number;
  /** Called when the application is closed. */
  readonly afterClose: () => Promise<void>;
}

/** After the drain deadline, the rest of the shutdown, above all the end of child processes, may take this long. */
const EXIT_TIMEOUT_MS = 800;

/**
 * The first signal drains, the second exits at once. The process ends within a second after the drain deadline. Child
 * processes are killed on every exit except SIGKILL.
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
