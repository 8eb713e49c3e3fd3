import { describe, expect, it } from '@jest/globals';
import { textLogLine } from './text-log-line.js';

const head = { time: '2026-01-02T03:04:05.678Z', level: 'warn', context: 'Backends', message: 'server lost' };

describe('textLogLine', () => {
  it('writes time, level, context and message first, then the other members', () => {
    expect(textLogLine({ ...head, server: 'fs', inMs: 5, reason: 'exit code 1', none: null }, false)).toBe(
      '03:04:05.678 WARN  Backends: server lost server=fs inMs=5 reason="exit code 1" none=null',
    );
  });

  it('writes several words with commas, and other values as JSON', () => {
    const members = {
      keys: ['limits', 'http'],
      none: [],
      names: ['a b'],
      oldest: [{ tool: 'x y' }],
      on: true,
    };
    expect(textLogLine({ ...head, ...members }, false)).toBe(
      '03:04:05.678 WARN  Backends: server lost keys=limits,http none=[] names=["a b"] oldest=[{"tool":"x y"}] on=true',
    );
  });

  it('writes a problem of several lines below', () => {
    const [line, ...below] = textLogLine({ ...head, problem: 'invalid:\n  a: wrong' }, false).split('\n');
    expect(line).not.toContain('problem');
    expect(below).toEqual(['    invalid:', '      a: wrong']);
  });

  it('colours the level on a terminal with colours', () => {
    expect(textLogLine(head, true)).toContain('\u001b[33mWARN \u001b[39m');
  });

  it('writes a stack and lines of stderr below', () => {
    const lines = textLogLine({ ...head, stack: 'Error: x\n  at y', stderr: ['one', 'two'] }, false).split(
      '\n',
    );
    expect(lines.slice(1)).toEqual(['    Error: x', '      at y', '    one', '    two']);
  });

  it('escapes control characters of every member', () => {
    const hostile = '\u001b[2J\u202e\nx';
    const line = textLogLine({ ...head, message: hostile, tool: hostile, stderr: [hostile] }, false);
    // oxlint-disable-next-line no-control-regex
    expect(line.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(line.split('\n')).toHaveLength(3);
  });
});
