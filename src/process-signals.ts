import type { INestApplication, LoggerService } from '@nestjs/common';
import { killAllProcessGroups } from './backends/stdio/process-group.js';

/** The first signal drains, the second exits at once. Child processes are killed on every exit except SIGKILL. */
export function exitOnSignals(
  app: INestApplication,
  logger: LoggerService,
  afterClose: () => Promise<void>,
): void {
  let isClosing = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isClosing) {
      logger.warn({ message: 'second signal: exiting at once', signal });
      process.exit(1);
    }
    isClosing = true;
    logger.log({ message: 'shutting down', signal });
    app
      .close()
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
