import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { only, plain } from '../../../test/kit/offers.js';
import {
  addressOf,
  buildDirectory,
  offered,
  offerOf,
  offersOf,
  seenIn,
  SERVERS,
  servers,
  STYLES,
  uris,
  type Offered,
} from '../../../test/kit/resource-offers.js';
import type { ResourceDirectory } from './resource-directory.js';
import { resourceForm, type ResourceAddress, type ResourceStyle } from './resource-uri.js';
import { EVERYTHING, type Scope } from '../scope.js';

const styles = fc.constantFrom(...STYLES);
const scopes = fc.subarray(SERVERS).map((allowed) => only(...allowed));

const directoryOf = async (given: readonly Offered[], style: ResourceStyle): Promise<ResourceDirectory> =>
  buildDirectory(await offersOf(given), style);

const addresses = (given: readonly Offered[], scope: Scope = EVERYTHING): ResourceAddress[] =>
  given
    .filter(({ server }) => scope.allows(server))
    .flatMap((offer) => [...new Set(offer.uris)].map((uri) => ({ server: offer.server, uri })));

const found = (directory: ResourceDirectory, scope: Scope, text: string): string | undefined =>
  addressOf(directory.view(scope).find(text));

/** Everything on all pages, by public URI, each from the directory that `at` has for it. */
function walk(at: (page: number) => ResourceDirectory, size: number, scope: Scope = EVERYTHING): string[] {
  const walked: string[] = [];
  let cursor: string | undefined = '';
  for (let page = 0; cursor !== undefined; page++) {
    const { text } = at(page).view(scope).resources.page('resources', cursor, size, plain);
    const { resources, nextCursor } = JSON.parse(text) as {
      resources: { uri: string }[];
      nextCursor?: string;
    };
    walked.push(...resources.map(({ uri }) => uri));
    cursor = nextCursor;
  }
  return walked;
}

const everyDirectory = (
  check: (directory: ResourceDirectory, given: Offered[], scope: Scope) => void,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(offered, styles, scopes, async (given, style, scope) => {
      check(await directoryOf(given, style), given, scope);
    }),
    { numRuns: 200 },
  );

describe('what is listed', () => {
  it('is every resource of the scope and no other', () =>
    everyDirectory((directory, given, scope) => {
      const listed = seenIn(directory, scope).map(({ resource }) => addressOf(resource));
      const expected = addresses(given, scope).map(addressOf);
      expect(new Set(listed)).toEqual(new Set(expected));
      expect([listed.length, directory.view(scope).sizeOf()]).toEqual([expected.length, expected.length]);
    }));

  it('has a public URI of its own, and stands in the order of those', () =>
    everyDirectory((directory, _given, scope) => {
      const listed = seenIn(directory, scope).map(({ uri }) => uri);
      expect(listed).toEqual([...new Set(listed)].toSorted((a, b) => (a < b ? -1 : 1)));
    }));

  it('has an identifier of its own', () =>
    everyDirectory((directory) => {
      const ids = seenIn(directory).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }));

  it('is found by its public URI, in every scope that sees it', () =>
    everyDirectory((directory, _given, scope) => {
      for (const { uri, resource } of seenIn(directory, scope))
        expect(found(directory, scope, uri)).toBe(addressOf(resource));
    }));

  it('is found by its resource form and by its identifier, whatever the style', () =>
    everyDirectory((directory, _given, scope) => {
      for (const { id, resource } of seenIn(directory, scope))
        for (const text of [resourceForm(resource), id])
          expect(found(directory, scope, text)).toBe(addressOf(resource));
    }));

  it('is called the same in every scope', () =>
    everyDirectory((directory, _given, scope) => {
      const everywhere = new Map(seenIn(directory).map(({ uri, resource }) => [addressOf(resource), uri]));
      for (const { uri, resource } of seenIn(directory, scope))
        expect(everywhere.get(addressOf(resource))).toBe(uri);
    }));

  it('has templates with names of their own, in their order, by which they are found', () =>
    everyDirectory((directory, given, scope) => {
      const listed = directory.view(scope).listedTemplates;
      const names = listed.map(({ uriTemplate }) => uriTemplate);
      expect(names).toEqual([...new Set(names)].toSorted((a, b) => (a < b ? -1 : 1)));
      expect(names).toHaveLength(
        given.filter(({ server }) => scope.allows(server)).flatMap(({ templates }) => [...new Set(templates)])
          .length,
      );
      for (const { uriTemplate, template } of listed) {
        const form = resourceForm({ server: template.server, uri: template.uriTemplate });
        for (const text of [uriTemplate, template.id, form])
          expect(directory.view(scope).findTemplate(text)).toBe(template);
      }
    }));
});

describe('a scope', () => {
  it('finds nothing of servers that are not in it, whatever the text', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, uris, servers, async (given, style, scope, uri, server) => {
        const view = (await directoryOf(given, style)).view(scope);
        for (const text of [uri, resourceForm({ server, uri })]) {
          const owner = view.find(text)?.server;
          expect(owner === undefined || scope.allows(owner)).toBe(true);
        }
      }),
    ));

  it('finds what it would find if there were no others', () => {
    // Names of which none begins another: identifiers are then the same with and without the others.
    const apart = offered.map((given) => given.filter(({ server }) => !server.includes('_')));
    return fc.assert(
      fc.asyncProperty(apart, styles, scopes, uris, servers, async (given, style, scope, uri, server) => {
        const all = await directoryOf(given, style);
        const alone = await directoryOf(
          given.filter((offer) => scope.allows(offer.server)),
          style,
        );
        for (const text of [uri, resourceForm({ server, uri })])
          expect(found(all, scope, text)).toBe(found(alone, EVERYTHING, text));
      }),
      { numRuns: 150 },
    );
  });
});

describe('publicUri', () => {
  it('is the URI in the list', () =>
    everyDirectory((directory) => {
      for (const { uri, resource } of seenIn(directory)) expect(directory.publicUri(resource)).toBe(uri);
    }));

  it('leads back to whatever a server has, listed or not, in every scope that sees the server', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, uris, async (given, style, scope, uri) => {
        const directory = await directoryOf(given, style);
        const having = given.filter(
          ({ server }) =>
            found(directory, only(server), resourceForm({ server, uri })) === `${server} ${uri}`,
        );
        for (const { server } of having.filter((offer) => scope.allows(offer.server)))
          expect(found(directory, scope, directory.publicUri({ server, uri }))).toBe(`${server} ${uri}`);
        for (const { server } of given.filter((offer) => !having.includes(offer)))
          expect(directory.publicUri({ server, uri })).toBe(resourceForm({ server, uri }));
      }),
      { numRuns: 200 },
    ));

  it.each(STYLES)('is the resource form for a server that is not there, in style %s', async (style) => {
    const directory = await directoryOf([{ server: 'a', uris: ['x:1'], templates: ['x:{y}'] }], style);
    for (const uri of ['x:1', 'x:2', 'y:3'])
      expect(directory.publicUri({ server: 'b', uri })).toBe(`resource://b/${uri}`);
  });

  it('calls an instance as its template is called, where that is understood', async () => {
    const given = [{ server: 'db', uris: [], templates: ['mcp://db/{table}/{id}'] }];
    const uriIn = async (style: ResourceStyle): Promise<string> =>
      (await directoryOf(given, style)).publicUri({ server: 'db', uri: 'mcp://db/users/5' });
    expect(await Promise.all(STYLES.map(uriIn))).toEqual([
      'resource://db/mcp://db/users/5',
      'db_mcp___db_users_5',
      'mcp://db/users/5',
    ]);
  });

  it('of an instance is the resource form where another server lists its URI', async () => {
    const given = [
      { server: 'db', uris: [], templates: ['mcp://db/{id}'] },
      { server: 'other', uris: ['mcp://db/5', 'db_mcp___db_5'], templates: [] },
    ];
    for (const style of STYLES) {
      const directory = await directoryOf(given, style);
      expect(directory.publicUri({ server: 'db', uri: 'mcp://db/5' })).toBe('resource://db/mcp://db/5');
    }
  });
});

describe('a walk over the pages', () => {
  const sizes = fc.integer({ min: 1, max: 5 });

  it('gives every resource once', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, sizes, async (given, style, scope, size) => {
        const directory = await directoryOf(given, style);
        expect(walk(() => directory, size, scope)).toEqual(seenIn(directory, scope).map(({ uri }) => uri));
      }),
    ));

  it('neither repeats nor hides another when one comes or goes between two pages', () =>
    fc.assert(
      fc.asyncProperty(
        offered,
        styles,
        sizes,
        fc.nat(3),
        servers,
        uris,
        async (given, style, size, changedAt, server, uri) => {
          const others = given.filter((offer) => offer.server !== server);
          const own = given.find((offer) => offer.server === server)?.uris ?? [];
          const more = { server, templates: [], uris: [...own, uri] };
          const less = { server, templates: [], uris: own.filter((one) => one !== uri) };
          const [longer, shorter] = [
            await directoryOf([...others, more], style),
            await directoryOf([...others, less], style),
          ];
          for (const [before, after] of [
            [longer, shorter],
            [shorter, longer],
          ] as const) {
            const walked = walk((page) => (page <= changedAt ? before : after), size);
            const stays = new Set(seenIn(after).map((seen) => seen.uri));
            const both = seenIn(before).filter((seen) => stays.has(seen.uri));
            expect(new Set(walked).size).toBe(walked.length);
            expect(walked).toEqual(expect.arrayContaining(both.map((seen) => seen.uri)));
          }
        },
      ),
      { numRuns: 150 },
    ));

  it('is built once for all who see the same', async () => {
    const directory = await directoryOf([{ server: 'a', uris: ['x:1', 'x:2'], templates: [] }], 'resource');
    const page = () => directory.view(only('a')).resources.page('resources', '', 1, plain);
    expect(page()).toBe(page());
  });
});

describe('build', () => {
  it('gives the same whether or not there was something to take over', () =>
    fc.assert(
      fc.asyncProperty(offered, offered, styles, scopes, async (before, after, style, scope) => {
        const offers = await offersOf(after);
        const previous = buildDirectory(await offersOf(before), style);
        const built = buildDirectory(offers, style, previous);
        expect(seenIn(built, scope)).toEqual(seenIn(buildDirectory(offers, style), scope));
      }),
    ));

  it('takes over the whole directory, and so its pages, when nothing changed', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, async (given, style) => {
        const offers = await offersOf(given);
        const directory = buildDirectory(offers, style);
        const again = offers.map((offer) => ({ ...offer }));
        expect(buildDirectory(again, style, directory)).toBe(directory);
      }),
    ));

  it.each(STYLES)('gives the same in style %s whichever long list comes first', async (style) => {
    const many = Array.from({ length: 5000 }, (_, n) => `x:${n}`);
    const offers = [
      await offerOf('a', many),
      await offerOf('a_b', many.slice(2500)),
      await offerOf('c', ['x:1']),
    ];
    const [one, other] = [offers, offers.toReversed()].map((given) => buildDirectory(given, style));
    expect(seenIn(other!).map(({ uri }) => uri)).toEqual(seenIn(one!).map(({ uri }) => uri));
  });
});

const changed = (before: ResourceDirectory, after: ResourceDirectory): string[] =>
  [...after.changedServers(before)].toSorted();

/** What a client that sees this server alone is shown. */
const shownOf = (directory: ResourceDirectory, server: string): string =>
  JSON.stringify([
    seenIn(directory, only(server)),
    directory
      .view(only(server))
      .listedTemplates.map(({ uriTemplate, template }) => [uriTemplate, template.text]),
  ]);

describe('changedServers', () => {
  it('are at least those of which a client sees something else', () =>
    fc.assert(
      fc.asyncProperty(offered, offered, styles, async (before, after, style) => {
        const old = await directoryOf(before, style);
        const now = buildDirectory(await offersOf(after), style, old);
        const differ = SERVERS.filter((server) => shownOf(old, server) !== shownOf(now, server));
        expect(changed(old, now)).toEqual(expect.arrayContaining(differ));
      }),
    ));

  it('are none of those that stayed as they were, nor of those that have nothing', async () => {
    const [a, b, empty] = [await offerOf('a', ['x:1']), await offerOf('b', ['x:2']), await offerOf('e', [])];
    const old = buildDirectory([a], 'original');
    const now = buildDirectory([empty, b, a], 'original', old);
    expect(changed(old, now)).toEqual(['b']);
    expect(changed(now, buildDirectory([a, b], 'original', now))).toEqual([]);
    expect(changed(now, now)).toEqual([]);
  });

  it.each([
    ['another lists the same URI', 'original', 'x:1', ['a', 'b']],
    ['another lists its resource form', 'original', 'resource://a/x:1', ['b']],
    ['another lists the same URI', 'resource', 'x:1', ['b']],
  ] as const)('when %s, in style %s', async (_what, style, uri, expected) => {
    const a = await offerOf('a', ['x:1']);
    const old = buildDirectory([a], style);
    const now = buildDirectory([a, await offerOf('b', [uri])], style, old);
    expect(changed(old, now)).toEqual(expected);
  });
});

describe('differs', () => {
  it('is whether one scope sees a server with resources that the other does not', async () => {
    const directory = await directoryOf(
      [
        { server: 'a', uris: ['x:1'], templates: [] },
        { server: 'b', uris: [], templates: ['x:{y}'] },
        { server: 'e', uris: [], templates: [] },
      ],
      'resource',
    );
    expect(directory.differs(only('a'), only('a', 'b'))).toBe(true);
    expect(directory.differs(only('a'), only('a', 'e'))).toBe(false);
  });
});
