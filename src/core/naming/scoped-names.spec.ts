import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  buildTable,
  definition,
  listOf,
  offer,
  offers,
  only,
  scopes,
  tableOf,
  tableWithServers,
  toolsOf,
  type Offer,
} from '../../../test/kit/offers.js';
import { META_TOOL_SERVER, type CatalogEntry } from './catalog-entry.js';
import type { NameTable } from './name-table.js';
import { nameWithDigest, type NamingStyle } from './naming.js';
import { EVERYTHING } from '../scope.js';

const STYLES = ['always', 'conflict', 'never'] as const;
const DIGEST = /_[0-9a-f]{8}$/;

const namesIn = (table: NameTable, scope = EVERYTHING): string[] =>
  [...table.view(scope).after('')].map(({ publicName }) => publicName);

const nameOf = (server: string, own: string, style: NamingStyle = 'always'): string =>
  namesIn(tableOf(offer(server, style, own)))[0]!;

const addressOf = (entry: CatalogEntry | undefined) => entry && `${entry.server}/${entry.ownName}`;

const foundIn = (table: NameTable, name: string, scope = EVERYTHING): string | undefined =>
  addressOf(table.view(scope).find(name));

/** Has a tool whose own name is a prefixed name of the server `gone`. */
const imitations = (style: NamingStyle): Offer => offer('evil', style, 'gone__pay', 'x');

describe('public names', () => {
  it.each([
    [
      'always: have the prefix of the server',
      [offer('a', 'always', 'x'), offer('b', 'always', 'x')],
      ['a__x', 'b__x'],
    ],
    [
      'conflict: have a prefix only where two servers have the name',
      [offer('a', 'conflict', 'x', 'y'), offer('b', 'conflict', 'x')],
      ['a__x', 'b__x', 'y'],
    ],
    [
      'conflict: have no prefix where the other server always has one',
      [offer('a', 'always', 'x'), offer('b', 'conflict', 'x')],
      ['a__x', 'x'],
    ],
    [
      'conflict: have a prefix where the other server never has one',
      [offer('a', 'conflict', 'x'), offer('b', 'never', 'x')],
      ['a__x', 'x'],
    ],
    [
      'never: are those of the first server that has the name',
      [offer('a', 'never', 'x'), offer('b', 'never', 'x', 'y')],
      ['x', 'y'],
    ],
    [
      'conflict: have a prefix where they equal the prefixed name of a tool of their server',
      [offer('a', 'conflict', 'x', 'a__x'), offer('b', 'conflict', 'x')],
      ['a__a__x', 'a__x', 'b__x'],
    ],
    [
      'never: may equal the prefixed name of a tool of their server',
      [offer('a', 'never', 'x', 'a__x')],
      ['a__x', 'x'],
    ],
  ])('%s', (_rule, given, expected) => {
    expect(namesIn(buildTable(given))).toEqual(expected);
  });

  it('have at most 64 characters', () => {
    expect(nameOf('s', 'x'.repeat(61))).toBe(`s__${'x'.repeat(61)}`);
    expect(nameOf('s', 'x'.repeat(62))).toHaveLength(64);
  });

  it('are shortened to the same text in every version, because clients store them', () => {
    expect(nameOf('s', 'x'.repeat(62))).toBe(`s__${'x'.repeat(52)}_f5513bea`);
  });

  it.each(['a b', 'a.b', 'a/b', 'a\nb', 'aüb', 'a🚀b', 'a\u200bb', 'a\ud800b'])(
    'have an underscore for each character that providers refuse, and a digest (%j)',
    (own) => {
      for (const style of STYLES) expect(nameOf('s', own, style)).toMatch(/^(s__)?a_b_[0-9a-f]{8}$/);
    },
  );

  it('get a digest of their own where they equal a name with digest of another tool', () => {
    const long = 'x'.repeat(80);
    const shortened = nameOf('s', long).slice('s__'.length);
    const names = namesIn(tableOf(offer('s', 'always', long, shortened)));
    expect(new Set(names).size).toBe(2);
    expect(foundIn(tableOf(offer('s', 'always', long, shortened)), `s__${shortened}`)).toBe(`s/${long}`);
  });

  it('are distinct and valid in every scope', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const names = namesIn(buildTable(given), scope);
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      }),
    );
  });

  it('depend only on the servers of the scope and on the ids of all servers', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const ids = given.map(({ server }) => server);
        const visible = given.filter(({ server }) => scope.allows(server));
        expect(listOf(buildTable(given), scope)).toBe(listOf(tableWithServers(ids, ...visible), scope));
      }),
      { numRuns: 300 },
    );
  });

  it('are listed for every tool that may have a prefix', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const view = buildTable(given).view(scope);
        const unlisted = toolsOf(given, scope).filter(({ server, own }) => view.isUnlisted(server, own));
        const never = given.filter(({ style }) => style === 'never').map(({ server }) => server);
        expect(never).toEqual(expect.arrayContaining(unlisted.map(({ server }) => server)));
      }),
    );
  });

  it('of the same definitions are the same objects in every scope', () => {
    const table = tableOf(offer('a', 'conflict', 'x'), offer('b', 'conflict', 'x'));
    const found = [EVERYTHING, only('a', 'b')].map((scope) => table.view(scope).find('a__x'));
    expect(found[0]).toBeDefined();
    expect(found[0]).toBe(found[1]);
  });
});

describe('a tool of another tenant', () => {
  it.each(['conflict', 'never'] as const)('changes no name, in style %s', (style) => {
    const table = tableOf(offer('b', style, 'x'), offer('a', style, 'x'));
    expect(namesIn(table, only('a'))).toEqual(['x']);
    expect(foundIn(table, 'x', only('a'))).toBe('a/x');
  });

  it('adds no digest to a prefixed name', () => {
    const table = tableOf(offer('a', 'always', 'b__c'), offer('a__b', 'always', 'c'));
    expect(namesIn(table, only('a'))).toEqual(['a__b__c']);
  });
});

describe('a name with the id of a server that has no such tool', () => {
  it.each([
    ['is configured and has not listed', tableWithServers(['gone'], imitations('always'))],
    ['has listed other tools', tableOf(offer('gone', 'always', 'y'), imitations('always'))],
    [
      'has the tool switched off',
      tableOf({ ...offer('gone', 'always'), disabledNames: new Set(['pay']) }, imitations('always')),
    ],
  ])('resolves to no other server if the server %s', (_what, table) => {
    for (const scope of [EVERYTHING, only('evil')]) {
      expect(foundIn(table, 'gone__pay', scope)).toBeUndefined();
      expect(foundIn(table, 'evil__gone__pay', scope)).toBe('evil/gone__pay');
    }
  });

  it.each([
    ['conflict', ['evil__gone__pay', 'x']],
    ['never', ['x']],
  ] as const)('is not listed for another server, in style %s', (style, expected) => {
    const table = tableWithServers(['gone'], imitations(style));
    expect(namesIn(table)).toEqual(expected);
    expect(foundIn(table, 'gone__pay')).toBeUndefined();
    expect(foundIn(table, 'evil__gone__pay')).toBe('evil/gone__pay');
  });

  it('belongs to that server in scopes with it', () => {
    const table = tableWithServers(['gone', 'other'], imitations('always'));
    expect(table.view(EVERYTHING).ownersOf('gone__pay')).toEqual(['gone']);
    expect(table.view(only('evil')).ownersOf('gone__pay')).toEqual([]);
    expect(table.view(EVERYTHING).ownersOf('pay')).toEqual([]);
  });
});

describe('a name with digest of a server that has not listed', () => {
  const LONG = 'l'.repeat(60);
  const CASES = [
    ['the id has a dot', 'a.b', '__', 'x'],
    ['the id is cut', LONG, '__', 'a_long_name'],
    ['the separator is cut', 'l'.repeat(54), '__', 'a_long_name'],
    ['the separator has a dot', 'a', '.', 'x'],
    ['the id and the own name have a dot', 'a.b', '.', 'x.y'],
  ] as const;

  it.each(CASES)('belongs to that server in scopes with it, if %s', (_what, server, separator, own) => {
    const name = nameWithDigest(`${server}${separator}${own}`, server, own);
    const table = buildTable([offer('evil', 'always', name)], undefined, separator);
    const configured = table.withServers(new Set([server, 'other']));
    expect(configured.view(EVERYTHING).ownersOf(name)).toEqual([server]);
    expect(configured.view(only('evil')).ownersOf(name)).toEqual([]);
    expect(foundIn(table, name)).toBe(`evil/${name}`);
    for (const scope of [EVERYTHING, only('evil')]) expect(foundIn(configured, name, scope)).toBeUndefined();
  });

  it.each(CASES)('resolves when the server has listed, if %s', (_what, server, separator, own) => {
    const table = buildTable([offer(server, 'always', own), offer('b', 'always', own)], undefined, separator);
    const name = nameWithDigest(`${server}${separator}${own}`, server, own);
    expect(namesIn(table, only(server))).toEqual([name]);
    for (const scope of [EVERYTHING, only(server)])
      expect(foundIn(table, name, scope)).toBe(`${server}/${own}`);
  });

  describe.each(['conflict', 'never'] as const)(
    'and is the own name of a tool of another, in style %s',
    (style) => {
      it.each(CASES)(
        'is not listed for the other and leads nowhere, if %s',
        (_what, server, separator, own) => {
          const name = nameWithDigest(`${server}${separator}${own}`, server, own);
          const table = buildTable([offer('evil', style, name)], undefined, separator);
          expect(namesIn(table)).toEqual([name]);
          const configured = table.withServers(new Set([server, 'evil']));
          for (const scope of [EVERYTHING, only('evil')]) {
            expect(namesIn(configured, scope)).not.toContain(name);
            expect(foundIn(configured, name, scope)).toBeUndefined();
            expect(foundIn(configured, `evil${separator}${name}`, scope)).toBe(`evil/${name}`);
          }
          expect([...configured.changedServers(table)]).toContain('evil');
        },
      );

      it.each(CASES)('leads to its server when it has listed, if %s', (_what, server, separator, own) => {
        const name = nameWithDigest(`${server}${separator}${own}`, server, own);
        const offered = [offer('evil', style, name), offer(server, 'always', own)];
        const table = buildTable(offered, undefined, separator);
        expect(namesIn(table).filter((listed) => listed === name)).toHaveLength(1);
        expect(foundIn(table, name)).toBe(`${server}/${own}`);
        expect(foundIn(table, name, only('evil'))).toBeUndefined();
      });
    },
  );

  it('is not the prefixed name of a tool of another server', () => {
    const name = nameWithDigest('a.b__x', 'a.b', 'x');
    const imitation = offer('a_b', 'always', name.slice('a_b__'.length));
    const own = nameWithDigest(name, 'a_b', name.slice('a_b__'.length));
    const configured = tableWithServers(['a.b'], imitation);
    expect(namesIn(configured)).toEqual([own]);
    expect(foundIn(configured, name)).toBeUndefined();
    const table = tableOf(imitation, offer('a.b', 'always', 'x'));
    expect(namesIn(table).toSorted()).toEqual([name, own].toSorted());
    expect([name, own].map((each) => foundIn(table, each))).toEqual(['a.b/x', `a_b/${name.slice(5)}`]);
    expect(namesIn(table, only('a_b'))).toEqual([name]);
    expect([...configured.changedServers(tableOf(imitation))]).toContain('a.b');
    expect(configured.hasOverlap('a_b')).toBe(true);
  });

  it('belongs to all servers with such an id', () => {
    const view = tableWithServers(['a.b', 'a_b', 'a-b']).view(EVERYTHING);
    expect(view.ownersOf('a_b__x_12345678')).toEqual(['a_b', 'a.b']);
  });

  it.each(['a_b__x', 'a_b_x_12345678', 'a_b__x_1234567g', `a_b__${'x'.repeat(60)}_12345678`])(
    'is no other name: %s',
    (name) => {
      const table = tableWithServers(['a.b'], offer('c', 'always', name));
      expect(table.view(EVERYTHING).ownersOf(name)).toEqual([]);
      expect(foundIn(table, name)).toBe(`c/${name}`);
    },
  );
});

describe('equal prefixed names of two servers', () => {
  const [outer, inner] = [offer('a', 'always', 'b__c'), offer('a__b', 'always', 'c', 'd')];
  const digests = [nameWithDigest('a__b__c', 'a', 'b__c'), nameWithDigest('a__b__c', 'a__b', 'c')].toSorted();

  it('get a digest on both, whichever style they have', () => {
    expect(namesIn(tableOf(outer, inner))).toEqual([...digests, 'a__b__d']);
    const conflict = tableOf(
      offer('a', 'always', 'b__c'),
      offer('a__b', 'conflict', 'c'),
      offer('x', 'conflict', 'c'),
    );
    expect(namesIn(conflict)).toEqual([...digests, 'x__c']);
  });

  it('resolve by the name with digest alone', () => {
    const table = tableOf(outer, inner);
    expect(foundIn(table, 'a__b__c')).toBeUndefined();
    expect(new Set(digests.map((name) => foundIn(table, name)))).toEqual(new Set(['a/b__c', 'a__b/c']));
    expect(foundIn(table, 'a__b__d')).toBe('a__b/d');
  });

  it.each([
    ['is disabled or has not listed', tableWithServers(['a'], inner)],
    [
      'has the tool switched off',
      tableOf({ ...offer('a', 'always'), disabledNames: new Set(['b__c']) }, inner),
    ],
  ])('keep the digest while the other server %s', (_what, table) => {
    expect(namesIn(table)).toContain(nameWithDigest('a__b__c', 'a__b', 'c'));
    expect(foundIn(table, 'a__b__c')).toBeUndefined();
    expect(foundIn(table, nameWithDigest('a__b__c', 'a__b', 'c'))).toBe('a__b/c');
  });

  it('resolve by the name with digest also after the other server has listed no such tool', () => {
    const table = tableOf(offer('a', 'always', 'x'), inner);
    expect(namesIn(table)).toEqual(['a__b__c', 'a__b__d', 'a__x']);
    for (const name of ['a__b__c', nameWithDigest('a__b__c', 'a__b', 'c')])
      expect(foundIn(table, name)).toBe('a__b/c');
  });

  it('with a meta tool get a digest, and the meta tool keeps its name', () => {
    const metaTools: Offer = {
      server: META_TOOL_SERVER,
      style: 'never',
      definitions: [definition('catalog_tools')],
    };
    const table = buildTable([metaTools, offer('catalog', 'always', 'tools')], undefined, '_');
    expect(namesIn(table)).toEqual(['catalog_tools', expect.stringMatching(DIGEST)]);
    expect(foundIn(table, 'catalog_tools')).toBe('/catalog_tools');
  });
});
