import { beforeEach, describe, expect, it } from '@jest/globals';
import { definition } from '../../test/kit/offers.js';
import { neverYield } from '../../test/kit/resource-offers.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING, type Listing } from '../core/catalog/catalog.js';
import type { NamingStyle } from '../core/naming/naming.js';
import { ResourceList } from '../core/resources/resource-list.js';
import type { ResourceStyle } from '../core/resources/resource-uri.js';
import { EVERYTHING, scopeOf } from '../core/scope.js';
import { CatalogVariants } from './catalog-variants.js';
import { Registry } from './registry.service.js';

const IDS = ['a', 'b', 'c'];

async function listing(server: string, tools: string[], uris: string[] = []): Promise<Listing> {
  const resources = await ResourceList.build(
    server,
    uris.map((name) => ({ name, text: JSON.stringify({ uri: name, name }) })),
    neverYield,
  );
  return { ...UNFETCHED_LISTING, tools: tools.map((name) => definition(name)), resources };
}

const names = (list: string[]): string[] => list.filter((name) => name.includes('x') || name.includes('y'));

describe('a catalog variant', () => {
  let registry: Registry;

  beforeEach(() => {
    registry = new Registry(new Naming());
  });

  async function put(
    id: string,
    tools: string[],
    { style = 'always', uris = [] }: { style?: NamingStyle; uris?: string[] } = {},
  ): Promise<void> {
    const rank = IDS.indexOf(id);
    await registry.put({
      id,
      rank,
      listing: await listing(id, tools, uris),
      style,
      disabledTools: new Set(),
    });
  }

  const assign = (session: string, server: string, own: Listing): Promise<boolean> =>
    registry.variants.assign(session, new Map([[server, own]]));

  const toolsOf = (session: string, scope = EVERYTHING): string[] => {
    const own = registry.scopeOf(scope, session);
    return [...registry.catalogOf(own).tools.view(own).after('')].map(({ publicName }) => publicName);
  };

  const urisOf = (session: string): string[] => {
    const own = registry.scopeOf(EVERYTHING, session);
    return [...registry.catalogOf(own).resources.view(own).after('', 100)].map(({ uri }) => uri);
  };

  it('replaces the listing of one server for one session', async () => {
    await put('a', ['x'], { uris: ['u:1'] });
    await put('b', ['y']);
    await assign('one', 'a', await listing('a', ['x', 'z'], ['u:2']));
    expect(toolsOf('one')).toEqual(['a__x', 'a__z', 'b__y']);
    expect(urisOf('one')).toEqual(['resource://a/u:2']);
    expect(toolsOf('other')).toEqual(['a__x', 'b__y']);
    expect(urisOf('other')).toEqual(['resource://a/u:1']);
    expect(toolsOf('one', scopeOf(['b']))).toEqual(['b__y']);
  });

  it('leaves the tables and pages of the catalog unchanged', async () => {
    await put('a', ['x']);
    const { tools } = registry.catalog;
    const changes: unknown[] = [];
    registry.onChange((change) => changes.push(change));
    await assign('one', 'a', await listing('a', ['z']));
    expect(registry.catalog.tools).toBe(tools);
    expect(changes).toEqual([]);
  });

  it.each<[NamingStyle, string[], string[]]>([
    ['conflict', ['a__x', 'b__x'], ['a__x', 'a__y', 'b__x', 'b__y']],
    ['never', ['x'], ['x', 'y']],
  ])('names tools by the style %s within the listings of the session', async (style, before, now) => {
    await put('a', ['x'], { style });
    await put('b', ['x'], { style });
    expect(names(toolsOf('one'))).toEqual(before);
    await put('b', ['x', 'y'], { style });
    await assign('one', 'a', await listing('a', ['x', 'y']));
    expect(names(toolsOf('one'))).toEqual(now);
  });

  it.each<[ResourceStyle, string[]]>([
    ['original', ['resource://a/u:1', 'resource://b/u:1']],
    ['underscore', ['a_u___1', 'b_u___1']],
  ])('names resources by the style %s within the listings of the session', async (resources, uris) => {
    registry = new Registry(Object.assign(new Naming(), { resources }));
    await put('a', [], { uris: ['u:0'] });
    await put('b', [], { uris: ['u:1'] });
    await assign('one', 'a', await listing('a', [], ['u:1']));
    expect(urisOf('one')).toEqual(uris);
  });

  it('follows the changes of other servers, of disabled tools and of removed servers', async () => {
    await put('a', ['x']);
    await put('b', ['y']);
    const own = await listing('a', ['x', 'z']);
    await assign('one', 'a', own);
    await put('b', ['y2']);
    expect(toolsOf('one')).toEqual(['a__x', 'a__z', 'b__y2']);
    const shared = registry.catalog.server('a')!;
    await registry.put({ ...shared, disabledTools: new Set(['z']) });
    expect(toolsOf('one')).toEqual(['a__x', 'b__y2']);
    registry.remove('b');
    expect(toolsOf('one')).toEqual(['a__x']);
    registry.remove('a');
    expect(toolsOf('one')).toEqual([]);
  });

  it('is shared by sessions with the same lists, and ends with the last of them', async () => {
    await put('a', ['x']);
    const own = await listing('a', ['z']);
    await assign('one', 'a', own);
    await assign('two', 'a', { ...own });
    expect(registry.variants.size).toBe(1);
    expect(registry.variants.of('one')).toBe(registry.variants.of('two'));
    await registry.variants.assign('one', new Map());
    expect(toolsOf('two')).toEqual(['a__z']);
    await registry.variants.assign('two', new Map());
    expect(registry.variants.size).toBe(0);
    expect(toolsOf('two')).toEqual(['a__x']);
  });

  it('is refused beyond the maximum, and the session gets the catalog of all', async () => {
    const variants = new CatalogVariants(
      () => registry.catalog,
      async () => {},
      1,
    );
    expect(await variants.assign('one', new Map([['a', await listing('a', ['x'])]]))).toBe(true);
    expect(await variants.assign('two', new Map([['a', await listing('a', ['y'])]]))).toBe(false);
    expect(variants.of('two')).toBeUndefined();
    expect(await variants.assign('one', new Map([['a', await listing('a', ['y'])]]))).toBe(false);
    expect(variants.size).toBe(0);
  });
});
