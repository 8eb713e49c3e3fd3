import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  buildTable,
  offer,
  offers,
  only,
  ownNames,
  pageOf,
  scopes,
  SEPARATOR,
  serverIds,
  tableOf,
  toolsOf,
  type Offer,
} from '../../../test/kit/offers.js';
import type { CatalogEntry } from './catalog-entry.js';
import { NameTable } from './name-table.js';
import { nameWithDigest, prefixedName } from './naming.js';
import { unknownName } from './unknown-name.js';
import { EVERYTHING } from '../scope.js';

const addressOf = (entry: CatalogEntry | undefined) => entry && `${entry.server}/${entry.ownName}`;

const addressAndName = (entry: CatalogEntry | undefined) =>
  entry && `${addressOf(entry)} ${entry.publicName}`;

interface Page {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor?: string;
}
const toolsPage = (table: NameTable, after: string, size: number, scope = EVERYTHING): Page =>
  JSON.parse(pageOf(table.view(scope), 'tools', after, size)) as Page;
const namesIn = (page: Page): string[] => page.tools.map(({ name }) => name);
const listed = (table: NameTable, scope = EVERYTHING): string[] =>
  namesIn(toolsPage(table, '', 100_000, scope));

const messageFor = (table: NameTable, name: string, scope = EVERYTHING): string =>
  unknownName('tool', name, table.view(scope)).message;

/** A server whose id is changed in public names. */
const DOTTED = 'a.b';
const isLikeDottedName = (name: string): boolean => /^a_b__.*_[0-9a-f]{8}$/.test(name);
const isIn = (given: readonly Offer[], scope = EVERYTHING): boolean =>
  scope.allows(DOTTED) && given.some(({ server }) => server === DOTTED);

describe('unknownName', () => {
  it('lists the names that an ambiguous own name may mean, of the servers in scope', () => {
    const table = tableOf(offer('a', 'always', 'x'), offer('b', 'always', 'x'), offer('c', 'always', 'x'));
    expect(messageFor(table, 'x', only('a', 'c'))).toBe(
      'Unknown tool: x; several servers have it, use one of: a__x, c__x',
    );
    for (const servers of [['b'], ['d']])
      expect(messageFor(table, 'x', only(...servers))).toBe('Unknown tool: x');
  });

  it('lists the names with digest for a prefixed name of two servers', () => {
    const table = tableOf(offer('a', 'always', 'b__c'), offer('a__b', 'always', 'c'));
    expect(messageFor(table, 'a__b__c')).toMatch(
      /^Unknown tool: a__b__c; .*: a__b__c_[0-9a-f]{8}, a__b__c_[0-9a-f]{8}$/,
    );
    expect(messageFor(table, 'a__b__c', only('a'))).toBe('Unknown tool: a__b__c');
  });

  it('lists ten names at most', () => {
    const table = tableOf(...Array.from({ length: 12 }, (_, i) => offer(`s${i}`, 'always', 'x')));
    expect(messageFor(table, 'x')).toMatch(/use one of: (s\d__x, ){9}s\d__x and 2 more$/);
  });

  it('lists only names that lead to a tool', () => {
    fc.assert(
      fc.property(offers, scopes, ownNames, (given, scope, name) => {
        const view = buildTable(given).view(scope);
        for (const candidate of view.candidates(name))
          expect(view.find(candidate)?.publicName).toBe(candidate);
      }),
    );
  });
});

describe('NameView.find', () => {
  it('resolves the listed name, the prefixed name and the own name', () => {
    const view = tableOf(offer('a', 'never', 'x'), offer('b', 'always', 'y')).view(EVERYTHING);
    for (const name of ['x', 'a__x']) expect(addressOf(view.find(name))).toBe('a/x');
    for (const name of ['y', 'b__y']) expect(addressOf(view.find(name))).toBe('b/y');
  });

  it('resolves the whole prefixed name of a tool whose listed name was shortened', () => {
    const own = 'x'.repeat(70);
    const view = tableOf(offer('a', 'always', own)).view(EVERYTHING);
    for (const name of [`a__${own}`, own, listed(tableOf(offer('a', 'always', own)))[0]!])
      expect(addressOf(view.find(name))).toBe(`a/${own}`);
  });

  it.each(['', 'z', 'a__', '__x', 'A__x', 'a__x ', 'constructor', '__proto__'])(
    'does not resolve %j',
    (name) => {
      expect(
        tableOf(offer('a', 'always', 'x'))
          .view(EVERYTHING)
          .find(name),
      ).toBeUndefined();
    },
  );

  it('resolves an own name only in scope, and only when one server of the scope has it', () => {
    const table = tableOf(offer('a', 'always', 'x'), offer('b', 'always', 'x'));
    expect(table.view(EVERYTHING).find('x')).toBeUndefined();
    expect(addressOf(table.view(only('b')).find('x'))).toBe('b/x');
    expect(table.view(only('c')).find('x')).toBeUndefined();
  });

  it('does not resolve a prefixed name of two tools, but resolves it in a scope with one of them', () => {
    for (const style of ['always', 'never'] as const) {
      const table = tableOf(offer('a', style, 'b__c'), offer('a__b', style, 'c'));
      expect(table.view(EVERYTHING).find('a__b__c')).toBeUndefined();
      expect(addressOf(table.view(only('a__b')).find('a__b__c'))).toBe('a__b/c');
      expect(addressOf(table.view(only('a')).find('a__b__c'))).toBe('a/b__c');
    }
  });

  it('resolves every listed name', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const table = buildTable(given);
        for (const name of listed(table, scope)) expect(table.view(scope).find(name)?.publicName).toBe(name);
      }),
    );
  });

  it('resolves a name alike before and after the list was sorted', () => {
    fc.assert(
      fc.property(offers, scopes, fc.constantFrom('__', '.'), (given, scope, separator) => {
        const sorted = buildTable(given, undefined, separator);
        const tools = toolsOf(given, EVERYTHING).flatMap(({ server, own }) => {
          const prefixed = prefixedName(server, separator, own);
          return [own, prefixed, nameWithDigest(prefixed, server, own)];
        });
        const names = [...listed(sorted, scope), ...listed(sorted), ...tools];
        const find = (table: NameTable) => names.map((name) => table.view(scope).find(name));
        expect(find(buildTable(given, undefined, separator)).map(addressAndName)).toEqual(
          find(sorted).map(addressAndName),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('resolves a prefixed name only to its servers, and to a tool of that name', () => {
    fc.assert(
      fc.property(offers, scopes, ownNames, serverIds, (given, scope, own, server) => {
        const view = buildTable(given).view(scope);
        const name = prefixedName(server, SEPARATOR, own);
        const found = view.find(name);
        fc.pre(given.some((each) => each.server === server) && found !== undefined);
        const isListedWithDigest = found.server === DOTTED && found.publicName === name;
        const accepted = [found.ownName, prefixedName(found.server, SEPARATOR, found.ownName)];
        const startsWithServer = name.startsWith(prefixedName(found.server, SEPARATOR, ''));
        expect(isListedWithDigest || (startsWithServer && accepted.includes(name))).toBe(true);
      }),
    );
  });

  it('resolves the prefixed name of every tool in scope that may be the name of no other', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const view = buildTable(given).view(scope);
        const tools = toolsOf(given, scope);
        for (const { server, own } of tools) {
          const name = prefixedName(server, SEPARATOR, own);
          const isNamed = (tool: { server: string; own: string }): boolean =>
            prefixedName(tool.server, SEPARATOR, tool.own) === name;
          // The same server may list another tool under this name.
          const isShared = tools.filter(isNamed).length > 1;
          const found = view.find(name)?.server;
          const isOfOther = server !== DOTTED && isLikeDottedName(name) && isIn(given, scope);
          expect(isOfOther ? found !== server : found === (isShared ? undefined : server)).toBe(true);
        }
      }),
    );
  });

  it('resolves a name that belongs to no server exactly when one server of the scope has it', () => {
    fc.assert(
      fc.property(offers, scopes, ownNames, (given, scope, name) => {
        const table = buildTable(given);
        const isOwned =
          given.some(({ server }) => name.startsWith(prefixedName(server, SEPARATOR, ''))) ||
          (isIn(given) && isLikeDottedName(name));
        fc.pre(!isOwned && !listed(table, scope).includes(name));
        const owners = toolsOf(given, scope).filter(({ own }) => own === name);
        const found = table.view(scope).find(name);
        expect(found?.server).toBe(owners.length === 1 ? owners[0]!.server : undefined);
      }),
    );
  });

  it('resolves nothing outside the scope', () => {
    fc.assert(
      fc.property(offers, scopes, ownNames, serverIds, (given, scope, own, server) => {
        const view = buildTable(given).view(scope);
        const found = [own, prefixedName(server, SEPARATOR, own)].map((name) => view.find(name));
        expect(found.filter((entry) => entry && !scope.allows(entry.server))).toEqual([]);
      }),
    );
  });
});

describe('NameView.prepare', () => {
  it('names and sorts a list with conflicts in slices, once for all callers', async () => {
    const names = Array.from({ length: 2000 }, (_, n) => `t${n}`);
    const table = tableOf(offer('a', 'conflict', ...names), offer('b', 'conflict', ...names));
    const view = table.view(EVERYTHING);
    const steps: string[] = [];
    const prepare = (caller: string) => view.prepare(() => () => (steps.push(caller), Promise.resolve()));
    await Promise.all([prepare('one'), prepare('other')]);
    expect(new Set(steps)).toEqual(new Set(['one']));
    // At least one step for 128 entries, when they are counted, named and sorted.
    expect(steps.length).toBeGreaterThan((3 * 4000) / 128 - 10);
    expect(prepare('one')).toBeUndefined();
    expect(namesIn(toolsPage(table, '', 2))).toEqual(['a__t0', 'a__t1']);
  });
});

describe('NameView.page', () => {
  it('sorts by public name and adds a cursor to all pages but the last', () => {
    const table = tableOf(offer('b', 'always', 'y', 'x'), offer('a', 'always', 'z'));
    expect(toolsPage(table, '', 2)).toMatchObject({
      tools: [{ name: 'a__z' }, { name: 'b__x' }],
      nextCursor: 'b__x',
    });
    const last = toolsPage(table, 'b__x', 2);
    expect(namesIn(last)).toEqual(['b__y']);
    expect(last).not.toHaveProperty('nextCursor');
  });

  it('adds no cursor when the page ends with the list', () => {
    expect(toolsPage(tableOf(offer('a', 'always', 'x', 'y')), '', 2)).not.toHaveProperty('nextCursor');
  });

  it('returns an empty list without entries', () => {
    expect(pageOf(NameTable.EMPTY.view(EVERYTHING), 'tools')).toBe('{"tools":[]}');
    expect(toolsPage(tableOf(offer('a', 'always', 'x')), 'z', 10)).toEqual({ tools: [] });
  });

  it('names the list after the requested member, also in the shared empty table', () => {
    const view = NameTable.EMPTY.view(EVERYTHING);
    expect(pageOf(view, 'tools')).toBe('{"tools":[]}');
    expect(pageOf(view, 'prompts')).toBe('{"prompts":[]}');
  });

  it('contains every listed entry of the scope once', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const table = buildTable(given);
        const view = table.view(scope);
        const tools = toolsOf(given, scope);
        const unlisted = tools.filter(({ server, own }) => view.isUnlisted(server, own)).length;
        const names = listed(table, scope);
        expect(new Set(names).size).toBe(names.length);
        expect(names.length + unlisted).toBe(tools.length);
        expect([...table.view(scope).after('')]).toHaveLength(names.length);
      }),
    );
  });

  it('neither repeats nor skips entries that stay while the list changes between pages', () => {
    const some = fc.subarray(['k', 'a', 'z', '-', 'b', '0', 'm', 'A', 'q', '_', 'y', 'c']);
    const size = fc.integer({ min: 1, max: 4 });
    fc.assert(
      fc.property(some, fc.array(some, { maxLength: 12 }), size, (staying, others, most) => {
        const versions = others.map((names) =>
          tableOf(offer('s', 'always', ...new Set([...staying, ...names]))),
        );
        const final = tableOf(offer('s', 'always', ...staying));
        const seen: string[] = [];
        let cursor: string | undefined = '';
        while (cursor !== undefined) {
          const page = toolsPage(versions.shift() ?? final, cursor, most);
          expect(page.tools.length).toBeLessThanOrEqual(most);
          seen.push(...namesIn(page));
          cursor = page.nextCursor;
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen).toEqual(expect.arrayContaining(staying.map((name) => `s__${name}`)));
      }),
    );
  });
});
