import { describe, expect, it } from '@jest/globals';
import { painter, usesColour } from './output.js';

describe('usesColour', () => {
  it.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('with isTerminal %s and environment %j is %s', (isTerminal, env, expected) => {
    expect(usesColour(isTerminal, env)).toBe(expected);
  });
});

describe('painter', () => {
  it.each([
    [true, 'green', 'ok', '\x1b[32mok\x1b[39m'],
    [true, undefined, 'ok', 'ok'],
    [true, 'green', '', ''],
    [false, 'green', 'ok', 'ok'],
  ] as const)('with colour %s and style %s gives %j as %j', (isColoured, style, text, painted) => {
    expect(painter(isColoured)(style, text)).toBe(painted);
  });
});
