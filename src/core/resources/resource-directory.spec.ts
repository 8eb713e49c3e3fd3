import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { only, pageOf } from '../../../test/kit/offers.js';
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
import { resourceForm, underscoreId, type ResourceAddress, type ResourceStyle } from './resource-uri.js';
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

/** The directory of the servers of the scope, where the others are configured and have not listed. */
async function visibleAlone(
  given: readonly Offered[],
  style: ResourceStyle,
  scope: Scope,
): Promise<ResourceDirectory> {
  const visible = await directoryOf(
    given.filter(({ server }) => scope.allows(server)),
    style,
  );
  return visible.withServers(new Set(given.map(({ server }) => server)));
}

/** The public URIs on all pages. `at` returns the directory that serves a page. */
function readPages(
  at: (page: number) => ResourceDirectory,
  size: number,
  scope: Scope = EVERYTHING,
): string[] {
  const read: string[] = [];
  let cursor: string | undefined = '';
  for (let page = 0; cursor !== undefined; page++) {
    const text = pageOf(at(page).view(scope).resources, 'resources', cursor, size);
    const { resources, nextCursor } = JSON.parse(text) as {
      resources: { uri: string }[];
      nextCursor?: string;
    };
    read.push(...resources.map(({ uri }) => uri));
    cursor = nextCursor;
  }
  return read;
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

describe('ResourceDirectory list', () => {
  it('contains exactly the resources of the scope', () =>
    everyDirectory((directory, given, scope) => {
      const listed = seenIn(directory, scope).map(({ resource }) => addressOf(resource));
      const expected = addresses(given, scope).map(addressOf);
      expect(new Set(listed)).toEqual(new Set(expected));
      expect([listed.length, directory.view(scope).count()]).toEqual([expected.length, expected.length]);
    }));

  it('has unique public URIs, in order', () =>
    everyDirectory((directory, _given, scope) => {
      const listed = seenIn(directory, scope).map(({ uri }) => uri);
      expect(listed).toEqual([...new Set(listed)].toSorted((a, b) => (a < b ? -1 : 1)));
    }));

  it('has unique identifiers', () =>
    everyDirectory((directory) => {
      const ids = seenIn(directory).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }));

  it('has public URIs that resolve in every scope with the server', () =>
    everyDirectory((directory, _given, scope) => {
      for (const { uri, resource } of seenIn(directory, scope))
        expect(found(directory, scope, uri)).toBe(addressOf(resource));
    }));

  it('resolves the resource form and the identifier in every style', () =>
    everyDirectory((directory, _given, scope) => {
      for (const { id, resource } of seenIn(directory, scope))
        for (const text of [resourceForm(resource), id])
          expect(found(directory, scope, text)).toBe(addressOf(resource));
    }));

  it('has the names that it would have if the servers outside the scope had not listed', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, async (given, style, scope) => {
        const directory = await directoryOf(given, style);
        const alone = await visibleAlone(given, style, scope);
        const namesIn = (each: ResourceDirectory) => [
          seenIn(each, scope).map(({ uri, id }) => [uri, id]),
          each.view(scope).listedTemplates.map(({ uriTemplate, template }) => [uriTemplate, template.id]),
        ];
        expect(namesIn(directory)).toEqual(namesIn(alone));
      }),
      { numRuns: 200 },
    ));

  it('has unique templates, in order, that resolve by every form', () =>
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

describe('ResourceDirectory scope', () => {
  it('resolves no text to a server outside the scope', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, uris, servers, async (given, style, scope, uri, server) => {
        const view = (await directoryOf(given, style)).view(scope);
        for (const text of [uri, resourceForm({ server, uri })]) {
          const owner = view.find(text)?.server;
          expect(owner === undefined || scope.allows(owner)).toBe(true);
        }
      }),
    ));

  it('resolves a text as if the servers outside the scope had not listed', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, uris, servers, async (given, style, scope, uri, server) => {
        const all = await directoryOf(given, style);
        const alone = await visibleAlone(given, style, scope);
        for (const text of [uri, resourceForm({ server, uri })])
          expect(found(all, scope, text)).toBe(found(alone, scope, text));
      }),
      { numRuns: 150 },
    ));

  it('resolves a text with the id of a configured server to no other server', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, uris, servers, async (given, style, uri, server) => {
        const others = given.filter((offer) => offer.server !== server);
        const view = (await directoryOf(others, style)).withServers(new Set([server])).view(EVERYTHING);
        expect(view.find(resourceForm({ server, uri }))).toBeUndefined();
        expect(view.findTemplate(resourceForm({ server, uri }))).toBeUndefined();
        expect(view.findSubscribable(`${resourceForm({ server, uri })}*`)).toBeUndefined();
        expect(view.ownersOf(resourceForm({ server, uri }))).toEqual([server]);
        const resolved = view.find(underscoreId({ server, uri }));
        // An identifier may belong to several servers, if the id of one starts with the id of another.
        expect(
          resolved === undefined || underscoreId({ server, uri }).startsWith(`${resolved.server}_`),
        ).toBe(true);
      }),
    ));
});

describe('ResourceDirectory.publicUri', () => {
  it('is the listed URI', () =>
    everyDirectory((directory) => {
      for (const { uri, resource } of seenIn(directory)) expect(directory.publicUri(resource)).toBe(uri);
    }));

  it('resolves to the resource, listed or not, in every scope with the server', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, uris, async (given, style, scope, uri) => {
        const directory = await directoryOf(given, style);
        const having = given.filter(
          ({ server }) =>
            found(directory, only(server), resourceForm({ server, uri })) === `${server} ${uri}`,
        );
        for (const { server } of having.filter((offer) => scope.allows(offer.server)))
          expect(found(directory, scope, directory.publicUri({ server, uri }, scope))).toBe(
            `${server} ${uri}`,
          );
        for (const { server } of given.filter((offer) => !having.includes(offer)))
          expect(directory.publicUri({ server, uri })).toBe(resourceForm({ server, uri }));
      }),
      { numRuns: 200 },
    ));

  it('has the usual form of the style while the server has not listed', async () => {
    const empty = await Promise.all(STYLES.map((style) => directoryOf([], style)));
    const publicUris = empty.map((directory) => directory.publicUri({ server: 'b', uri: 'x://1' }));
    expect(publicUris).toEqual(['resource://b/x://1', 'b_x___1', 'x://1']);
  });

  it('has the form of the template for an instance, where that resolves', async () => {
    const given = [{ server: 'db', uris: [], templates: ['mcp://db/{table}/{id}'] }];
    const uriIn = async (style: ResourceStyle): Promise<string> =>
      (await directoryOf(given, style)).publicUri({ server: 'db', uri: 'mcp://db/users/5' });
    expect(await Promise.all(STYLES.map(uriIn))).toEqual([
      'resource://db/mcp://db/users/5',
      'db_mcp___db_users_5',
      'mcp://db/users/5',
    ]);
  });

  it('is the resource form for an instance whose URI another server of the scope lists', async () => {
    const given = [
      { server: 'db', uris: [], templates: ['mcp://db/{id}'] },
      { server: 'other', uris: ['mcp://db/5', 'db_mcp___db_5'], templates: [] },
    ];
    const address = { server: 'db', uri: 'mcp://db/5' };
    const directory = await directoryOf(given, 'original');
    expect(directory.publicUri(address)).toBe('resource://db/mcp://db/5');
    expect(directory.publicUri(address, only('db'))).toBe('mcp://db/5');
    expect((await directoryOf(given, 'underscore')).publicUri(address)).toBe('db_mcp___db_5');
  });
});

describe('ResourceDirectory pages', () => {
  const sizes = fc.integer({ min: 1, max: 5 });

  it('contain every resource once', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, scopes, sizes, async (given, style, scope, size) => {
        const directory = await directoryOf(given, style);
        expect(readPages(() => directory, size, scope)).toEqual(
          seenIn(directory, scope).map(({ uri }) => uri),
        );
      }),
    ));

  it('neither repeat nor skip resources that stay while others come and go', () =>
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
            const read = readPages((page) => (page <= changedAt ? before : after), size);
            const stays = new Set(seenIn(after).map((seen) => seen.uri));
            const both = seenIn(before).filter((seen) => stays.has(seen.uri));
            expect(new Set(read).size).toBe(read.length);
            expect(read).toEqual(expect.arrayContaining(both.map((seen) => seen.uri)));
          }
        },
      ),
      { numRuns: 150 },
    ));
});

describe('ResourceDirectoryBuilder', () => {
  it('builds the same list with and without a previous directory', () =>
    fc.assert(
      fc.asyncProperty(offered, offered, styles, scopes, async (before, after, style, scope) => {
        const offers = await offersOf(after);
        const previous = buildDirectory(await offersOf(before), style);
        const built = buildDirectory(offers, style, previous);
        expect(seenIn(built, scope)).toEqual(seenIn(buildDirectory(offers, style), scope));
      }),
    ));

  it('reuses the directory, and so its pages, when nothing changed', () =>
    fc.assert(
      fc.asyncProperty(offered, styles, async (given, style) => {
        const offers = await offersOf(given);
        const directory = buildDirectory(offers, style);
        const again = offers.map((offer) => ({ ...offer }));
        expect(buildDirectory(again, style, directory)).toBe(directory);
      }),
    ));

  it.each(STYLES)('builds the same list in any order of long lists, in style %s', async (style) => {
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

/** What a client sees whose scope contains only this server. */
const shownOf = (directory: ResourceDirectory, server: string): string =>
  JSON.stringify([
    seenIn(directory, only(server)),
    directory
      .view(only(server))
      .listedTemplates.map(({ uriTemplate, template }) => [uriTemplate, template.text]),
  ]);

describe('ResourceDirectory.changedServers', () => {
  it('reports every server whose resources differ for a client', () =>
    fc.assert(
      fc.asyncProperty(offered, offered, styles, async (before, after, style) => {
        const old = await directoryOf(before, style);
        const now = buildDirectory(await offersOf(after), style, old);
        const differ = SERVERS.filter((server) => shownOf(old, server) !== shownOf(now, server));
        expect(changed(old, now)).toEqual(expect.arrayContaining(differ));
      }),
    ));

  it('omits servers that did not change and servers without resources', async () => {
    const [a, b, empty] = [await offerOf('a', ['x:1']), await offerOf('b', ['x:2']), await offerOf('e', [])];
    const old = buildDirectory([a], 'original');
    const now = buildDirectory([empty, b, a], 'original', old);
    expect(changed(old, now)).toEqual(['b']);
    expect(changed(now, buildDirectory([a, b], 'original', now))).toEqual([]);
    expect(changed(now, now)).toEqual([]);
  });

  it.each([
    ['another lists the same URI', 'original', 'x:1', ['b']],

    ['another lists its resource form', 'original', 'resource://a/x:1', ['b']],
    ['another lists the same URI', 'resource', 'x:1', ['b']],
  ] as const)(
    'reports the servers that changed when %s, in style %s',
    async (_what, style, uri, expected) => {
      const a = await offerOf('a', ['x:1']);
      const old = buildDirectory([a], style);
      const now = buildDirectory([a, await offerOf('b', [uri])], style, old);
      expect(changed(old, now)).toEqual(expected);
    },
  );
});

describe('ResourceDirectory.differs', () => {
  it('is true when one scope has a server with resources that the other has not', async () => {
    const directory = await directoryOf(
      [
        { server: 'a', uris: ['x:1'], templates: [] },
        { server: 'b', uris: [], templates: ['x:{y}'] },
        { server: 'e', uris: [], templates: [] },
      ],
      'resource',
    );
    expect(directory.differsBetween(only('a'), only('a', 'b'))).toBe(true);
    expect(directory.differsBetween(only('a'), only('a', 'e'))).toBe(false);
  });
});
