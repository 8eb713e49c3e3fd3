import { Logger } from '@nestjs/common';
import { JsonLogger } from '../../src/json-logger.js';
import { onCleanup } from './cleanup.js';

/** Records the lines of Nest's loggers until the end of the test. */
export function recordLog(): string[] {
  const lines: string[] = [];
  Logger.overrideLogger(new JsonLogger('debug', [], (line) => lines.push(line)));
  onCleanup(() => Logger.overrideLogger(false));
  return lines;
}
