import { describe, expect, it } from '@jest/globals';
import { formatAge, formatBytes, formatListen, formatState, formatUpdates, pluralize } from './format.js';

describe('formatAge', () => {
  const now = Date.parse('2026-01-10T00:00:00Z');

  it.each([
    ['2026-01-09T23:59:55Z', '5s'],
    ['2026-01-09T23:30:00Z', '30m'],
    ['2026-01-09T20:45:00Z', '3h15m'],
    ['2026-01-06T19:00:00Z', '3d5h'],
    ['2026-01-05T00:00:00Z', '5d'],
    ['2027-01-01T00:00:00Z', '0s'],
    ['not a date', '-'],
  ])('of %s is %s', (since, expected) => {
    expect(formatAge(since, now)).toBe(expected);
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1234, '1.2 kB'],
    [12_345, '12 kB'],
    [3_400_000, '3.4 MB'],
    [7e15, '7.0 PB'],
    [-1, ''],
    [Number.NaN, ''],
    ['12', ''],
    [undefined, ''],
  ])('of %s is %j', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });
});

describe('pluralize', () => {
  it('adds an s unless the number is 1, and groups digits', () => {
    expect([pluralize(0, 'tool'), pluralize(1, 'tool'), pluralize(1234, 'tool')]).toEqual([
      '0 tools',
      '1 tool',
      '1,234 tools',
    ]);
  });
});

describe('formatState', () => {
  it.each([
    [{ state: 'ready' }, 'ready'],
    [{ state: 'ready', reason: 'tools/list failed: fetch failed' }, 'ready, tools/list failed: fetch failed'],
    [{ state: 'retrying', reason: 'cannot connect: ECONNREFUSED' }, 'retrying'],
  ] as const)('of %j is %s', (server, expected) => {
    expect(formatState(server)).toBe(expected);
  });
});

describe('formatUpdates', () => {
  it('says that no updates can come and what to set, and otherwise how they come', () => {
    expect(formatUpdates({ updates: 'none' })).toMatch(/^no updates can come; set watch\.pollMs$/);
    expect(formatUpdates({ updates: 'unsolicited' })).toMatch(/^no updates can come .* set subscribe: try/);
    expect(formatUpdates({ updates: 'polling' })).toBe('polling');
    expect(formatUpdates({})).toBeUndefined();
  });
});

describe('formatListen', () => {
  it.each([
    [{ kind: 'session' }, undefined],
    [{ kind: 'listen', listChanges: [] }, 'no list changes'],
    [{ kind: 'listen', listChanges: ['tools', 'resources'] }, 'changes of tools, resources'],
  ] as const)('of %j is %j', ({ kind, ...more }, text) => {
    const listChanges = 'listChanges' in more ? [...more.listChanges] : [];
    expect(formatListen({ kind, listChanges })).toBe(text);
  });
});
