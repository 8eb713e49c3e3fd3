import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LogLevel } from './config/log-settings.js';
import { JsonLogger } from './json-logger.js';

describe('JsonLogger', () => {
  let lines: string[];
  const loggerAt = (level: LogLevel, secrets: string[] = []): JsonLogger =>
    new JsonLogger(level, secrets, (line) => lines.push(line));
  const entries = (): Record<string, unknown>[] =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>);

  beforeEach(() => {
    lines = [];
  });

  it('writes one line of JSON per entry', () => {
    loggerAt('info').log('two\nlines\u2028', 'Backends');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\n]*\n$/);
    expect(entries()).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        level: 'info',
        context: 'Backends',
        message: 'two\nlines\u2028',
      },
    ]);
  });

  it('applies a changed level to later lines', () => {
    const logger = loggerAt('warn');
    logger.debug('before');
    logger.setLevel('debug');
    logger.debug('after');
    logger.setLevel('error');
    logger.warn('last');
    expect(entries()).toMatchObject([{ message: 'after' }]);
  });

  it.each([
    ['debug', ['debug', 'debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ] as const)('at the level %s writes %j', (level, written) => {
    const logger = loggerAt(level);
    logger.debug('x');
    logger.verbose('x');
    logger.log('x');
    logger.warn('x');
    logger.error('x');
    expect(entries().map((entry) => entry['level'])).toEqual(written);
  });

  it.each([
    ['an object as fields', { message: 'lost', server: 'fs' }, { message: 'lost', server: 'fs' }],
    ['a number as text', 5, { message: '5' }],
    ['nothing as text', undefined, { message: 'undefined' }],
    ['null as text', null, { message: 'null' }],
  ])('writes %s', (_what, message, expected) => {
    loggerAt('info').warn(message, 'Backends');
    expect(entries()).toEqual([
      { time: expect.any(String), level: 'warn', context: 'Backends', ...expected },
    ]);
  });

  it('writes an Error with its stack', () => {
    const error = new Error('lost');
    loggerAt('info').error(error, 'Backends');
    expect(entries()).toMatchObject([{ message: 'lost', stack: error.stack, context: 'Backends' }]);
  });

  it('writes the cause of an Error', () => {
    loggerAt('info').error(new Error('lost', { cause: new Error('connection reset') }), 'Backends');
    expect(entries()).toMatchObject([{ cause: expect.stringContaining('connection reset') }]);
  });

  it('does not let a field of a message replace time, level or context', () => {
    loggerAt('info').warn({ message: 'a', time: 'never', level: 'debug', context: 'Elsewhere' }, 'Backends');
    expect(entries()).toMatchObject([{ level: 'warn', context: 'Backends', message: 'a' }]);
    expect(entries()).not.toMatchObject([{ time: 'never' }]);
  });

  it('writes a line for values that JSON cannot express', () => {
    const circle: Record<string, unknown> = { message: 'a', big: 1n };
    circle['self'] = circle;
    circle['twice'] = [circle['big'], { also: circle['big'] }];
    loggerAt('info').warn(circle, 'Backends');
    expect(entries()).toMatchObject([
      { big: '1', self: { self: '[circular]' }, twice: ['1', { also: '1' }] },
    ]);
  });

  it("writes Nest's start-up messages at debug level only", () => {
    for (const context of ['RouterExplorer', '_RouterExplorer'])
      loggerAt('info').log('Mapped {/health/live, GET} route', context);
    loggerAt('debug').log('Mapped {/health/ready, GET} route', 'RouterExplorer');
    expect(entries()).toMatchObject([{ level: 'debug', message: 'Mapped {/health/ready, GET} route' }]);
  });

  it('writes the error of a failed start, which the command line reports, at debug level only', () => {
    for (const level of ['error', 'debug'] as const)
      loggerAt(level).error('x', 'a stack', 'ExceptionHandler');
    expect(entries()).toMatchObject([{ level: 'debug', stack: 'a stack', context: 'ExceptionHandler' }]);
  });

  it('reads a single detail of an error as its context and the first of two as its stack', () => {
    const logger = loggerAt('info');
    logger.error('a');
    logger.error('a', 'Backends');
    logger.error('a', 'Error: a\n  at b', 'Backends');
    expect(entries().map(({ stack, context }) => ({ stack, context }))).toEqual([
      { stack: undefined, context: undefined },
      { stack: undefined, context: 'Backends' },
      { stack: 'Error: a\n  at b', context: 'Backends' },
    ]);
  });

  describe("behind Nest's Logger", () => {
    beforeEach(() => Logger.overrideLogger(loggerAt('debug')));
    afterEach(() => Logger.overrideLogger(false));

    it.each(['debug', 'verbose', 'log', 'warn', 'error'] as const)('names the context of %s', (level) => {
      new Logger('Backends')[level]({ message: 'x', server: 'fs' });
      expect(entries()).toMatchObject([{ context: 'Backends', message: 'x', server: 'fs' }]);
      expect(entries()[0]).not.toHaveProperty('stack');
    });

    it('keeps the stack of an error', () => {
      new Logger('Backends').error('x', 'Error: x\n  at y');
      expect(entries()).toMatchObject([{ context: 'Backends', message: 'x', stack: 'Error: x\n  at y' }]);
    });
  });

  describe('secrets', () => {
    it.each([
      ['a message', 'token s3cr3t-value!'],
      ['a field', { message: 'x', cause: 'Bearer s3cr3t-value!' }],
      ['a nested field', { message: 'x', deep: [{ 's3cr3t-value!': 's3cr3t-value!s3cr3t-value!' }] }],
      ['an Error', new Error('s3cr3t-value!')],
    ])('are redacted in %s', (_what, message) => {
      loggerAt('info', ['s3cr3t-value!']).error(message, 's3cr3t-value!', 's3cr3t-value!');
      expect(lines[0]).not.toContain('s3cr3t');
      expect(lines[0]).toContain('[redacted]');
      expect(entries()).toHaveLength(1);
    });

    it.each(['a"b\\c"d', 'line\nbreak', '$& $1 .*', 'ümläut\u0000'])(
      'are redacted in their escaped form: %j',
      (secret) => {
        loggerAt('info', [secret]).log(`<${secret}>`);
        expect(entries()).toMatchObject([{ message: '<[redacted]>' }]);
      },
    );

    it.each([[['secret', 'secret-and-more']], [['secret-and-more', 'secret']]])(
      'are redacted completely where one is a prefix of another: %j',
      (secrets) => {
        loggerAt('info', secrets).log('<secret-and-more> <secret>');
        expect(entries()).toMatchObject([{ message: '<[redacted]> <[redacted]>' }]);
      },
    );
  });
});
