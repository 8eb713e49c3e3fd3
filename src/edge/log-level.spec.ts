import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { isLogged, isLogLevel, levelOf, LOG_LEVELS, mostTalkative } from './log-level.js';

describe('log levels', () => {
  it('rank from debug to emergency', () => {
    expect(LOG_LEVELS).toEqual([
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
      expect(isLogLevel(value)).toBe(false);
    },
  );

  it('let through what is at or above the wanted one', () => {
    for (const [index, level] of LOG_LEVELS.entries())
      for (const [wantedIndex, wanted] of LOG_LEVELS.entries())
        expect(isLogged(level, wanted)).toBe(index >= wantedIndex);
  });

  it('are info for a client that has not said what it wants', () => {
    expect(LOG_LEVELS.filter((level) => !isLogged(level))).toEqual(['debug']);
  });

  it.each([
    ['{"level":"error"}', 'error'],
    ['{"level":"x"}', undefined],
    ['{"level":7}', undefined],
    ['{}', undefined],
  ])('are read from %s as %s', (params, level) => {
    expect(levelOf(new JsonText(params))).toBe(level);
  });

  it('that are none are never let through', () => {
    expect(isLogged(undefined, 'debug')).toBe(false);
  });

  it.each<[LoggingLevel[], LoggingLevel]>([
    [[], 'info'],
    [['error'], 'info'],
    [['info', 'emergency'], 'info'],
    [['error', 'debug', 'alert'], 'debug'],
  ])('of clients that want %j are covered by %s', (wanted, expected) => {
    expect(mostTalkative(wanted)).toBe(expected);
  });

  it('of a great many clients are covered as well', () => {
    const wanted = Array.from({ length: 300_000 }, (): LoggingLevel => 'error');
    expect(mostTalkative([...wanted, 'debug'])).toBe('debug');
  });
});
