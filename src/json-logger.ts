import type { LoggerService } from '@nestjs/common';
import { LOG_LEVELS, type LogLevel } from './config/log-settings.js';

const REDACTED = '[redacted]';

/** What Nest says of itself while it starts: of use to those who debug, and forty lines to everybody else. */
const FRAMEWORK = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
]);

/**
 * One JSON line per entry, on stderr: stdout belongs to the line that says where we listen. Secrets are taken out by
 * value, wherever they turn up.
 */
export class JsonLogger implements LoggerService {
  private readonly threshold: number;
  private secrets: readonly string[] = [];

  constructor(
    level: LogLevel,
    secrets: readonly string[] = [],
    private readonly write: (line: string) => void = (line) => process.stderr.write(line),
  ) {
    this.threshold = LOG_LEVELS.indexOf(level);
    this.addSecrets(secrets);
  }

  /** From now on these values appear in no line. */
  addSecrets(secrets: readonly string[]): void {
    // In JSON a secret stands in its escaped form. The longest goes first: it may begin like a shorter one.
    const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.secrets = [...new Set([...this.secrets, ...escaped])].toSorted((a, b) => b.length - a.length);
  }

  debug(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  verbose(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  log(message: unknown, context?: string): void {
    // The bundler puts a line ahead of the names of some classes.
    const isFramework = context !== undefined && FRAMEWORK.has(context.replace(/^_/, ''));
    this.print(isFramework ? 'debug' : 'log', message, context);
  }

  warn(message: unknown, context?: string): void {
    this.print('warn', message, context);
  }

  error(message: unknown, ...details: unknown[]): void {
    const [stack, context] = details.length > 1 ? details : [undefined, details[0]];
    this.print('error', message, context, stack);
  }

  fatal(message: unknown, ...details: unknown[]): void {
    this.error(message, ...details);
  }

  private print(level: LogLevel, message: unknown, context: unknown, stack?: unknown): void {
    if (LOG_LEVELS.indexOf(level) < this.threshold) return;
    const head = { time: new Date().toISOString(), level, context };
    // Twice: it stands first, and no field of the message takes its place.
    const entry = { ...head, ...fieldsOf(message), ...(stack ? { stack } : {}), ...head };
    this.write(`${this.redact(toLine(entry))}\n`);
  }

  private redact(line: string): string {
    return this.secrets.reduce((text, secret) => text.replaceAll(secret, REDACTED), line);
  }
}

function fieldsOf(message: unknown): object {
  if (message instanceof Error) {
    const { stack, cause } = message;
    return { message: message.message, stack, ...(cause === undefined ? {} : { cause: describe(cause) }) };
  }
  return typeof message === 'object' && message !== null ? message : { message: String(message) };
}

const describe = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause);

/** A line is written whatever is in it: what JSON cannot say is left out, and a circle ends where it closes. */
function toLine(entry: object): string {
  const path: unknown[] = [];
  return JSON.stringify(entry, function (this: unknown, _key, value: unknown) {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    path.length = path.indexOf(this) + 1;
    if (path.includes(value)) return '[circular]';
    path.push(value);
    return value;
  });
}
