import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { isAtLeast, isLoggingLevel, loggingLevelIn, LOGGING_LEVELS, mostVerbose } from './logging-level.js';

describe('log levels', () => {
  it('rank from debug to emergency', () => {
    expect(LOGGING_LEVELS).toEqual([
      'debug',
      'info',
      'notice',
      'warning',
      'error',
      'critical',
      'alert',
      'emergency',
    ]);
  });

  it.each(['Debug', 'warn', '', 'verbose', 7, null, undefined, '__proto__'])(
    'are not everything: %j is none',
    (value) => {
      expect(isLoggingLevel(value)).toBe(false);
    },
  );

  it('let through what is at or above the wanted one', () => {
    for (const [index, level] of LOGGING_LEVELS.entries())
      for (const [wantedIndex, wanted] of LOGGING_LEVELS.entries())
        expect(isAtLeast(level, wanted)).toBe(index >= wantedIndex);
  });

  it('are info for a client that has not said what it wants', () => {
    expect(LOGGING_LEVELS.filter((level) => !isAtLeast(level))).toEqual(['debug']);
  });

  it.each([
    ['{"level":"error"}', 'error'],
    ['{"level":"x"}', undefined],
    ['{"level":7}', undefined],
    ['{}', undefined],
  ])('are read from %s as %s', (params, level) => {
    expect(loggingLevelIn(new JsonText(params))).toBe(level);
  });

  it('that are none are never let through', () => {
    expect(isAtLeast(undefined, 'debug')).toBe(false);
  });

  it.each<[LoggingLevel[], LoggingLevel]>([
    [[], 'info'],
    [['error'], 'info'],
    [['info', 'emergency'], 'info'],
    [['error', 'debug', 'alert'], 'debug'],
  ])('of clients that want %j are covered by %s', (wanted, expected) => {
    expect(mostVerbose(wanted)).toBe(expected);
  });

  it('of a great many clients are covered as well', () => {
    const wanted = Array.from({ length: 300_000 }, (): LoggingLevel => 'error');
    expect(mostVerbose([...wanted, 'debug'])).toBe('debug');
  });
});
