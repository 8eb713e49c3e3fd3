import type { LoggerService } from '@nestjs/common';

const LEVELS = ['debug', 'log', 'warn', 'error'] as const;
export type LogLevel = (typeof LEVELS)[number];

const REDACTED = '[redacted]';

/**
 * One JSON line per entry, on stderr: stdout belongs to the line that says where we listen. Secrets are taken out by
 * value, wherever they turn up.
 */
export class JsonLogger implements LoggerService {
  private readonly threshold: number;
  private readonly secrets: readonly string[];

  constructor(
    level: LogLevel,
    secrets: readonly string[] = [],
    private readonly write: (line: string) => void = (line) => process.stderr.write(line),
  ) {
    this.threshold = LEVELS.indexOf(level);
    // In JSON a secret stands in its escaped form. The longest goes first: it may begin like a shorter one.
    this.secrets = secrets
      .map((secret) => JSON.stringify(secret).slice(1, -1))
      .toSorted((a, b) => b.length - a.length);
  }

  debug(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  verbose(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  log(message: unknown, context?: string): void {
    this.print('log', message, context);
  }

  warn(message: unknown, context?: string): void {
    this.print('warn', message, context);
  }

  error(message: unknown, ...details: unknown[]): void {
    const [stack, context] = details.length > 1 ? details : [undefined, details[0]];
    this.print('error', message, context, stack);
  }

  private print(level: LogLevel, message: unknown, context: unknown, stack?: unknown): void {
    if (LEVELS.indexOf(level) < this.threshold) return;
    const entry = {
      time: new Date().toISOString(),
      level,
      context,
      ...fieldsOf(message),
      ...(stack ? { stack } : {}),
    };
    this.write(`${this.redact(JSON.stringify(entry))}\n`);
  }

  private redact(line: string): string {
    return this.secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), line);
  }
}

function fieldsOf(message: unknown): object {
  if (message instanceof Error) return { message: message.message, stack: message.stack };
  return typeof message === 'object' && message !== null ? message : { message: String(message) };
}
