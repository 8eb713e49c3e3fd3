import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  buildTable,
  listOf,
  offer,
  offers,
  only,
  scopes,
  SERVERS,
  type Offer,
} from '../../../test/kit/offers.js';
import { EVERYTHING } from '../scope.js';
import { NameChange } from './name-change.js';
import type { NameTable } from './name-table.js';

/** The tables before and after a change, with the same configured servers. */
const tablesOf = (before: readonly Offer[], after: readonly Offer[]): [NameTable, NameTable] => {
  const servers = new Set(SERVERS);
  const old = buildTable(before);
  return [old.withServers(servers), buildTable(after, old).withServers(servers)];
};

const changeOf = (before: readonly Offer[], after: readonly Offer[]): NameChange => {
  const [old, now] = tablesOf(before, after);
  return new NameChange(old, now, now.changedServers(old));
};

describe('NameChange', () => {
  const first = offer('b', 'never', 'x');

  it.each([
    [
      'a tool is added whose name another server has',
      [offer('c', 'never', 'y')],
      [offer('c', 'never', 'x', 'y')],
    ],
    ['such a tool is removed', [offer('c', 'never', 'x', 'y')], [offer('c', 'never', 'y')]],
    ['a server with only such tools is added', [], [offer('c', 'never', 'x')]],
    ['a server with only such tools is removed', [offer('c', 'never', 'x')], []],
  ])('is visible only in scopes without the other server when %s', (_what, before, after) => {
    const change = changeOf([first, ...before], [first, ...after]);
    expect(change.mayBeInvisible).toBe(true);
    expect([EVERYTHING, only('b', 'c'), only('c')].map((scope) => change.isVisible(scope))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it.each(['always', 'conflict'] as const)('is visible in style %s', (style) => {
    expect(changeOf([first], [first, offer('c', style, 'x')]).mayBeInvisible).toBe(false);
  });

  it('is visible when it is too long to be compared', () => {
    const names = Array.from({ length: 101 }, (_, n) => `t${n}`);
    const taken = offer('b', 'never', ...names);
    const isVisible = (count: number): boolean =>
      changeOf([taken], [taken, offer('c', 'never', ...names.slice(0, count))]).isVisible(EVERYTHING);
    expect([isVisible(100), isVisible(101)]).toEqual([false, true]);
  });

  it('is visible in every scope that sees another list', () => {
    fc.assert(
      fc.property(offers, offers, scopes, (before, after, scope) => {
        const [old, now] = tablesOf(before, after);
        fc.pre(listOf(old, scope) !== listOf(now, scope));
        expect(changeOf(before, after).isVisible(scope)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
