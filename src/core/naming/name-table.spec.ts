import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import {
  again,
  buildTable,
  listOf,
  offer,
  offers,
  only,
  pageOf,
  scopes,
  SEPARATOR,
  serverIds,
  SERVERS,
  tableOf,
  toolsOf,
  type Offer,
} from '../../../test/kit/offers.js';
import { runSteps } from '../../../test/kit/run-steps.js';
import { META_TOOL_SERVER, type CatalogEntry } from './catalog-entry.js';
import { newConflicts } from './name-conflicts.js';
import { NameTable } from './name-table.js';
import { prefixedName, validOrDigestName } from './naming.js';
import { EVERYTHING } from '../scope.js';

const mark = '"io.gatehouse/server":"fs","io.gatehouse/name":"read"';

/** How a definition of the tool `read` is listed for the server `fs`. */
const textOf = (text: string): string =>
  tableOf({ server: 'fs', style: 'always', definitions: [{ name: 'read', text }] })
    .view(EVERYTHING)
    .find('fs__read')!.text;

const changed = (before: Offer[], after: Offer[]): string[] =>
  [...tableOf(...after).changedServers(tableOf(...before))].toSorted();

describe('CatalogEntry.text', () => {
  it.each([
    ['without _meta', '{"name":"read"}', `{"name":"fs__read","_meta":{${mark}}}`],
    ['with an empty _meta', '{"name":"read","_meta":{}}', `{"name":"fs__read","_meta":{${mark}}}`],
    [
      'with its own _meta',
      '{ "_meta" : { "ui" : 1.0 } , "name" : "read" }',
      `{ "_meta" : { "ui" : 1.0 ,${mark}} , "name" : "fs__read" }`,
    ],
    [
      'with a _meta that is no object',
      '{"name":"read","_meta":null}',
      `{"name":"fs__read","_meta":{${mark}}}`,
    ],
    [
      'that claims to be of another server',
      '{"name":"read","_meta":{"io.gatehouse/server":"other","io.gatehouse/name":"other"}}',
      `{"name":"fs__read","_meta":{${mark}}}`,
    ],
    [
      'that has its name twice',
      '{"name":"evil","name":"read"}',
      `{"name":"fs__read","name":"fs__read","_meta":{${mark}}}`,
    ],
    [
      'that has two _meta, the first no object',
      '{"name":"read","_meta":null,"_meta":{"a":1}}',
      `{"name":"fs__read","_meta":null,"_meta":{"a":1,${mark}}}`,
    ],
    [
      'that has two _meta, the last no object',
      '{"name":"read","_meta":{"a":1},"_meta":[]}',
      `{"name":"fs__read","_meta":{${mark}},"_meta":{${mark}}}`,
    ],
  ])('has the public name and the mark of its server for a definition %s', (_what, text, expected) => {
    expect(textOf(text)).toBe(expected);
  });

  it('keeps every other byte as its server wrote it', () => {
    const member = fc.tuple(
      fc.constantFrom('"title"', '"inputSchema"', '"n\\u0061me2"', '"x-unknown"', '"Name"'),
      fc.constantFrom(
        '1.0',
        '12345678901234567890',
        '"\\u0041\\/"',
        '{"name":"read","_meta":{}}',
        '[ 1 , {} ]',
        'null',
      ),
    );
    const space = fc.constantFrom('', ' ', '\n\t');
    fc.assert(
      fc.property(fc.array(member), fc.array(member), space, (before, after, gap) => {
        const written = (name: string): string =>
          [...before, ['"name"', name] as const, ...after]
            .map(([key, value]) => `${gap}${key}${gap}:${gap}${value}`)
            .join(',');
        expect(textOf(`{${written('"read"')}}`)).toBe(`{${written('"fs__read"')},"_meta":{${mark}}}`);
      }),
    );
  });

  it('keeps the own name of an entry that is not listed', () => {
    const table = tableOf(offer('a', 'never', 'x'), offer('b', 'never', 'x'));
    expect(runSteps(newConflicts(NameTable.EMPTY, table))).toEqual([
      { kind: 'unlisted', server: 'b', name: 'x' },
    ]);
    expect(table.view(EVERYTHING).find('b__x')).toMatchObject({
      server: 'b',
      ownName: 'x',
      publicName: undefined,
    });
  });
});

describe('NameTableBuilder', () => {
  it('reuses every entry whose definition, name and style are the same', () => {
    fc.assert(
      fc.property(offers, offers, (before, after) => {
        const [changedOffer] = after;
        const others = before.filter(({ server }) => server !== changedOffer?.server);
        const next = [...others, ...(changedOffer ? [changedOffer] : [])];
        const old = buildTable([...others, ...before.filter((each) => !others.includes(each))]);
        const olds = entriesOf(old, before);
        const table = buildTable(again(next), old);
        const built = entriesOf(table, next).filter(
          (entry) => !olds.includes(entry) && styleOf(before, entry.server) === styleOf(next, entry.server),
        );
        expect(built.filter((entry) => olds.some((one) => isSame(one, entry)))).toEqual([]);
      }),
    );
  });

  it('reuses the table, and so its pages, when nothing changed', () => {
    fc.assert(
      fc.property(offers, (given) => {
        const table = buildTable(given);
        expect(buildTable(again(given), table)).toBe(table);
      }),
    );
  });

  it('uses the configured separator in prefixed names', () => {
    expect(
      buildTable([offer('a', 'never', 'x')], undefined, '.')
        .view(EVERYTHING)
        .find('a.x'),
    ).toBeDefined();
  });

  it('builds the same list with and without a previous table', () => {
    fc.assert(
      fc.property(offers, offers, scopes, (before, after, scope) => {
        const fresh = buildTable(after);
        const built = buildTable(after, buildTable(before));
        expect(listOf(built, scope)).toBe(listOf(fresh, scope));
      }),
    );
  });

  it('does not reuse the entry of another server with the same definition', () => {
    const shared = offer('a', 'never', 'x');
    const renamed = { ...shared, server: 'b' };
    const table = buildTable([renamed], buildTable([shared]));
    expect(table.view(EVERYTHING).find('x')).toMatchObject({ server: 'b' });
    expect(listOf(table)).toContain('"io.gatehouse/server":"b"');
  });

  it('does not change the previous table', () => {
    fc.assert(
      fc.property(offers, offers, (before, after) => {
        const old = buildTable(before);
        const text = listOf(old);
        listOf(buildTable(after, old));
        expect(listOf(old)).toBe(text);
      }),
    );
  });
});

describe('NameTable.changedServers', () => {
  it.each([
    ['nothing changed', [offer('a', 'always', 'x')], [offer('a', 'always', 'x')], []],
    ['a server was added', [], [offer('a', 'always', 'x')], ['a']],
    ['a server was removed', [offer('a', 'always', 'x')], [], ['a']],
    ['a server without tools was added', [], [offer('a', 'always')], []],
    [
      'one of two changed',
      [offer('a', 'always', 'x'), offer('b', 'always', 'x')],
      [offer('a', 'always', 'x')],
      ['b'],
    ],
    [
      'the other server gets a prefix in scopes with both',
      [offer('a', 'conflict', 'x')],
      [offer('a', 'conflict', 'x'), offer('b', 'conflict', 'x')],
      ['b'],
    ],
    [
      'the added server does not get its name in scopes with both',
      [offer('a', 'never', 'x')],
      [offer('a', 'never', 'x'), offer('b', 'never', 'x')],
      ['b'],
    ],
    [
      'an own name starts with the id of the added server',
      [offer('a', 'conflict', 'b__x')],
      [offer('a', 'conflict', 'b__x'), offer('b', 'always')],
      ['a'],
    ],
    [
      'an added server without tools may have the prefixed names of another',
      [offer('a__b', 'always', 'x')],
      [offer('a__b', 'always', 'x'), offer('a', 'always')],
      ['a'],
    ],
    [
      'a server lists the same in another order',
      [offer('a', 'always', 'x', 'y')],
      [offer('a', 'always', 'y', 'x')],
      [],
    ],
  ])('reports the servers that changed when %s', (_what, before, after, expected) => {
    expect(changed(before, after)).toEqual(expected);
  });

  it('reports a server of every scope that sees another list', () => {
    fc.assert(
      fc.property(offers, offers, scopes, (before, after, scope) => {
        const [old, table] = [buildTable(before), buildTable(after)];
        fc.pre(listOf(old, scope) !== listOf(table, scope));
        expect(changed(before, after).filter((server) => scope.allows(server))).not.toEqual([]);
      }),
    );
  });

  it('reports every server whose tools differ for a client that sees no other server', () => {
    fc.assert(
      fc.property(offers, offers, (before, after) => {
        const [old, table] = [buildTable(before), buildTable(after)];
        const expected = SERVERS.filter((id) => listOf(old, only(id)) !== listOf(table, only(id)));
        expect(changed(before, after)).toEqual(expect.arrayContaining(expected));
      }),
    );
  });
});

describe('a meta tool', () => {
  const metaTools = offer(META_TOOL_SERVER, 'never', 'search', 'x');
  const styles = fc.constantFrom('always' as const, 'conflict' as const, 'never' as const);

  it('is listed without a prefix and with the mark of the gateway', () => {
    expect(listOf(tableOf(offer(META_TOOL_SERVER, 'never', 'search')))).toBe(
      '{"tools":[{"name":"search","_meta":{"io.gatehouse/server":"gatehouse","io.gatehouse/name":"search"}}]}',
    );
  });

  it('is visible in every scope, even in an empty one', () => {
    fc.assert(
      fc.property(offers, scopes, (given, scope) => {
        const view = buildTable([metaTools, ...given]).view(scope);
        for (const name of ['search', 'x']) {
          expect(view.find(name)).toMatchObject({
            server: META_TOOL_SERVER,
            ownName: name,
            publicName: name,
          });
          expect([...view.after('')].filter((entry) => entry.publicName === name)).toHaveLength(1);
        }
      }),
    );
  });

  it('leaves a tool of the same name reachable by its prefixed name, in every style', () => {
    fc.assert(
      fc.property(styles, serverIds, (style, server) => {
        const view = tableOf(metaTools, offer(server, style, 'search')).view(only(server));
        expect(view.find(prefixedName(server, SEPARATOR, 'search'))).toMatchObject({
          server,
          ownName: 'search',
        });
        expect(view.find('search')).toMatchObject({ server: META_TOOL_SERVER });
        expect([...view.after('')].map(({ publicName }) => publicName)).toEqual(
          style === 'never'
            ? ['search', 'x']
            : ['search', 'x', validOrDigestName(`${server}__search`, server, 'search')],
        );
      }),
    );
  });

  it('is listed before the tools of all servers, on pages of any size', () => {
    const table = tableOf(offer('a', 'always', 'x', 'y'), metaTools, offer('Z', 'always', 'x'));
    for (const size of [1, 2, 3, 100])
      expect(namesOnPages(table, size)).toEqual(['search', 'x', 'Z__x', 'a__x', 'a__y']);
  });

  it('does not count as a difference between scopes', () => {
    expect(tableOf(metaTools).differsBetween(only('a'), only('b'))).toBe(false);
    expect(tableOf(metaTools, offer('a', 'always', 'y')).differsBetween(only('a'), only('b'))).toBe(true);
  });

  it('keeps the URI of its user interface', () => {
    const text = '{"name":"x","_meta":{"ui":{"resourceUri":"ui://view"}}}';
    const own = { server: META_TOOL_SERVER, style: 'never', definitions: [{ name: 'x', text }] } as const;
    expect(listOf(tableOf(own))).toContain('"resourceUri":"ui://view"');
    expect(listOf(tableOf({ ...own, server: 'a' }))).toContain('"resourceUri":"ui://a/view"');
  });
});

/** The names on all pages of so many tools, in order. */
function namesOnPages(table: NameTable, size: number): string[] {
  const names: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = JSON.parse(pageOf(table.view(EVERYTHING), 'tools', cursor, size)) as {
      tools: { name: string }[];
      nextCursor?: string;
    };
    names.push(...page.tools.map(({ name }) => name));
    cursor = page.nextCursor;
  }
  return names;
}

const styleOf = (given: readonly Offer[], id: string) => given.find(({ server }) => server === id)?.style;

const isSame = (a: CatalogEntry, b: CatalogEntry): boolean =>
  a.server === b.server && a.ownName === b.ownName && a.publicName === b.publicName && a.text === b.text;

/** Every entry that a scope of its server alone finds by its prefixed name. */
function entriesOf(table: NameTable, given: readonly Offer[]): CatalogEntry[] {
  return toolsOf(given, EVERYTHING).flatMap(({ server, own }) => {
    const entry = table.view(only(server)).find(prefixedName(server, SEPARATOR, own));
    return entry?.ownName === own ? [entry] : [];
  });
}
