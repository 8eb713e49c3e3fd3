import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { buildTable, offer, offers, tableOf, tableWithServers } from '../../../test/kit/offers.js';
import { runSteps } from '../../../test/kit/run-steps.js';
import { newConflicts, type NameConflict } from './name-conflicts.js';
import { NameTable } from './name-table.js';

const conflictsSince = (before: NameTable, after: NameTable): NameConflict[] =>
  runSteps(newConflicts(before, after));

const sorted = (conflicts: readonly NameConflict[]): string[] =>
  conflicts.map((conflict) => JSON.stringify(conflict)).toSorted();

describe('newConflicts', () => {
  it('reports equal prefixed names for both servers, once', () => {
    const [outer, inner] = [offer('a', 'always', 'b__c'), offer('a__b', 'always', 'c', 'd')];
    const [before, after] = [tableOf(outer), tableOf(outer, inner)];
    expect(conflictsSince(before, after)).toEqual([
      { kind: 'equal-prefixed-names', server: 'a', name: 'a__b__c' },
      { kind: 'equal-prefixed-names', server: 'a__b', name: 'a__b__c' },
    ]);
    expect(conflictsSince(after, after)).toEqual([]);
    expect(conflictsSince(after, tableOf(outer, inner, offer('x', 'always', 'y')))).toEqual([]);
  });

  it('reports a tool that lost its name to a server that was added', () => {
    const [first, second] = [offer('a', 'never', 'x'), offer('b', 'never', 'x', 'y')];
    const before = buildTable([second]);
    const after = buildTable([first, second], before);
    expect(conflictsSince(before, after)).toEqual([{ kind: 'unlisted', server: 'b', name: 'x' }]);
  });

  it('reports a tool whose name belongs to a server that was configured', () => {
    const evil = offer('evil', 'never', 'gone__pay');
    expect(conflictsSince(tableOf(evil), tableWithServers(['gone'], evil))).toEqual([
      { kind: 'unlisted', server: 'evil', name: 'gone__pay' },
    ]);
  });

  it('reports what the table has and the previous one had not, whichever servers changed', () => {
    fc.assert(
      fc.property(offers, offers, fc.boolean(), (given, next, isRebuilt) => {
        const before = buildTable(given);
        const after = buildTable(next, isRebuilt ? undefined : before);
        const known = new Set(sorted(conflictsSince(NameTable.EMPTY, before)));
        const all = sorted(conflictsSince(NameTable.EMPTY, after));
        expect(sorted(conflictsSince(before, after))).toEqual(all.filter((conflict) => !known.has(conflict)));
      }),
      { numRuns: 500 },
    );
  });
});
