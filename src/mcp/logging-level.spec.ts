import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { isAtLeast, isLoggingLevel, loggingLevelIn, LOGGING_LEVELS, mostVerbose } from './logging-level.js';

describe('logging levels', () => {
  it('order from debug to emergency', () => {
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

  it.each(['Debug', 'warn', '', 'verbose', 7, null, undefined, '__proto__'])('do not include %j', (value) => {
    expect(isLoggingLevel(value)).toBe(false);
  });

  it('pass messages at or above the level of the client', () => {
    for (const [index, level] of LOGGING_LEVELS.entries())
      for (const [thresholdIndex, threshold] of LOGGING_LEVELS.entries())
        expect(isAtLeast(level, threshold)).toBe(index >= thresholdIndex);
  });

  it('default to info', () => {
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

  it('never pass messages without a valid level', () => {
    expect(isAtLeast(undefined, 'debug')).toBe(false);
  });

  it.each<[LoggingLevel[], LoggingLevel]>([
    [[], 'info'],
    [['error'], 'info'],
    [['info', 'emergency'], 'info'],
    [['error', 'debug', 'alert'], 'debug'],
  ])('of clients %j give servers the level %s', (clientLevels, expected) => {
    expect(mostVerbose(clientLevels)).toBe(expected);
  });

  it('of very many clients give servers the most verbose one', () => {
    const clientLevels = Array.from({ length: 300_000 }, (): LoggingLevel => 'error');
    expect(mostVerbose([...clientLevels, 'debug'])).toBe('debug');
  });
});
