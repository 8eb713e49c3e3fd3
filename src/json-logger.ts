import type { LoggerService } from '@nestjs/common';
import { LOG_LEVELS, type LogLevel } from './config/log-settings.js';
import { SubstringSet } from './lib/substrings/substring-set.js';
import { textLogLine } from './text-log-line.js';

const REDACTED = '[redacted]';

/**
 * Contexts of the messages that Nest itself logs during the start. These messages are logged at debug level, errors
 * included, because the command line reports a failed start.
 */
const FRAMEWORK_CONTEXTS = new Set([
  'ExceptionHandler',
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The format of the lines. It follows from `LogSettings.format` and the terminal. */
export type LineFormat = 'json' | 'text' | 'coloured-text';

/**
 * Writes log entries as lines of JSON or as text. Secrets are redacted by value, wherever they appear.
 */
export class JsonLogger implements LoggerService {
  /** Index of the lowest level that is logged. */
  private minLevelIndex = 0;
  private secrets: ReadonlySet<string> = new Set();
  /** The search patterns of `secrets`, built at their first use. */
  private patterns: SubstringSet | undefined;

  constructor(
    level: LogLevel,
    secrets: readonly string[],
    private readonly write: (line: string) => void,
    private format: LineFormat = 'json',
  ) {
    this.setLevel(level);
    this.addSecrets(secrets);
  }

  /** The lowest level of all later lines. */
  setLevel(level: LogLevel): void {
    this.minLevelIndex = LOG_LEVELS.indexOf(level);
  }

  /** The format of all later lines. */
  setFormat(format: LineFormat): void {
    this.format = format;
  }

  /** Redacts these values in all later lines. */
  addSecrets(secrets: readonly string[]): void {
    // A line of JSON contains the escaped form of a secret.
    const escaped = secrets.map((secret) => JSON.stringify(secret).slice(1, -1));
    this.secrets = new Set([...this.secrets, ...escaped]);
    this.patterns = undefined;
  }

  debug(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  verbose(message: unknown, context?: string): void {
    this.print('debug', message, context);
  }

  log(message: unknown, context?: string): void {
    this.print(isFramework(context) ? 'debug' : 'info', message, context);
  }

  warn(message: unknown, context?: string): void {
    this.print('warn', message, context);
  }

  error(message: unknown, ...details: unknown[]): void {
    // Nest passes either the context, or the stack and the context.
    const [stack, context] = details.length > 1 ? details : [undefined, details[0]];
    this.print(isFramework(context) ? 'debug' : 'error', message, context, stack);
  }

  fatal(message: unknown, ...details: unknown[]): void {
    this.error(message, ...details);
  }

  private print(level: LogLevel, message: unknown, context: unknown, stack?: unknown): void {
    if (LOG_LEVELS.indexOf(level) < this.minLevelIndex) return;
    const head = { time: new Date().toISOString(), level, context };
    // The first spread puts these fields at the start of the line; the second one restores them if the message has fields
    // of the same names.
    const entry = { ...head, ...fieldsOf(message), ...(stack ? { stack } : {}), ...head };
    const line = this.redact(toLine(entry));
    this.write(`${this.format === 'json' ? line : this.toText(line)}\n`);
  }

  /** Converts a redacted line to text. If a number was redacted, the line is not JSON any more and is returned as it is. */
  private toText(line: string): string {
    try {
      const entry = JSON.parse(line) as Record<string, unknown>;
      return textLogLine(entry, this.format === 'coloured-text');
    } catch {
      return line;
    }
  }

  private redact(line: string): string {
    this.patterns ??= new SubstringSet(this.secrets);
    return this.patterns.replaceIn(line, REDACTED);
  }
}

/** Whether Nest itself logs in this context. The bundler prefixes the names of some classes with an underscore. */
const isFramework = (context: unknown): boolean =>
  typeof context === 'string' && FRAMEWORK_CONTEXTS.has(context.replace(/^_/, ''));

function fieldsOf(message: unknown): object {
  if (message instanceof Error) {
    const { stack, cause } = message;
    return { message: message.message, stack, ...(cause === undefined ? {} : { cause: describe(cause) }) };
  }
  return typeof message === 'object' && message !== null ? message : { message: String(message) };
}

const describe = (cause: unknown): string =>
  cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause);

/** Serialises every value. Leaves out members that JSON cannot express, and replaces circular references. */
function toLine(entry: object): string {
  /** The objects that contain the current value, outermost first. */
  const ancestors: unknown[] = [];
  return JSON.stringify(entry, function (this: unknown, _key, value: unknown) {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    // `this` is the object that contains the value. The objects after it in the list are finished.
    ancestors.length = ancestors.indexOf(this) + 1;
    if (ancestors.includes(value)) return '[circular]';
    ancestors.push(value);
    return value;
  });
}
