import { describe, expect, it } from '@jest/globals';
import { definition } from '../../test/kit/offers.js';
import { offerOf } from '../../test/kit/resource-offers.js';
import { Scrape } from '../../test/kit/scrape.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING, type CatalogChange, type ListedServer } from '../core/catalog/catalog.js';
import { EVERYTHING } from '../core/scope.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from './registry.service.js';

async function server(id: string, ...uris: string[]): Promise<ListedServer> {
  const { resources, templates } = await offerOf(id, uris, ['y:{z}']);
  const listing = { ...UNFETCHED_LISTING, resources, templates };
  return { id, rank: 0, listing, style: 'always', disabledTools: new Set() };
}

const registryInStyle = (resources: Naming['resources']): Registry =>
  new Registry(Object.assign(new Naming(), { resources }));

const urisIn = ({ catalog }: Registry): string[] =>
  [...catalog.resources.view(EVERYTHING).after('', Infinity)].map(({ uri }) => uri);

function recordChanges(registry: Registry): CatalogChange[] {
  const changes: CatalogChange[] = [];
  registry.onChange((change) => changes.push(change));
  return changes;
}

describe('Registry with resources', () => {
  it('lists resources in the style of the configuration', async () => {
    const registry = registryInStyle('underscore');
    await registry.put(await server('a', 'x:1'));
    expect(urisIn(registry)).toEqual(['a_x___1']);
  });

  it('announces the server that changed, not those whose public URIs change with it', async () => {
    const registry = registryInStyle('original');
    const changes = recordChanges(registry);
    await registry.put(await server('a', 'x:1'));
    await registry.put(await server('b', 'x:1'));
    registry.remove('b');
    await registry.whenBuilt();
    expect(changes.map(({ resources }) => [...resources].toSorted())).toEqual([['a'], ['b'], ['b']]);
    expect(urisIn(registry)).toEqual(['x:1']);
  });

  it('keeps the resources and announces no change of them when only tools change', async () => {
    const registry = registryInStyle('resource');
    const a = await server('a', 'x:1');
    await registry.put(a);
    const changes = recordChanges(registry);
    const { resources } = registry.catalog;
    await registry.put({ ...a, listing: { ...a.listing, tools: [definition('t')] } });
    expect(registry.catalog.resources).toBe(resources);
    expect(changes).toEqual([{ tools: new Set(['a']), prompts: new Set(), resources: new Set() }]);
  });
});

describe('Registry with more templates than one lookup may examine', () => {
  it.each(['resource', 'original'] as const)('counts the lookup in style %s, by server', async (style) => {
    const metrics = new Metrics();
    const registry = new Registry(Object.assign(new Naming(), { resources: style }), metrics);
    const many = Array.from({ length: 400 }, (_, n) => `x:{a}{b}{c${n}}`);
    const [few, all] = await Promise.all([server('few'), offerOf('many', [], many)]);
    await registry.put(few);
    await registry.put({ ...few, id: 'many', listing: { ...UNFETCHED_LISTING, ...all } });
    const counted = async (): Promise<number | undefined> =>
      new Scrape(await metrics.text()).value('gatehouse_unfinished_template_matches_total', {
        server_id: 'many',
      });
    const view = registry.catalog.resources.view(EVERYTHING);
    expect(view.find('resource://many/x:123')).toBeDefined();
    expect(await counted()).toBeUndefined();
    expect(view.find(`resource://many/x:1/${'2'.repeat(8000)}`)).toBeUndefined();
    expect(await counted()).toBe(1);
    expect(view.find(`x:1/${'2'.repeat(8000)}`)).toBeUndefined();
    expect(await counted()).toBe(2);
  });
});

/** Number of listed resources of a server. */
const sizeOf = ({ catalog }: Registry, id: string): number => catalog.resources.view(EVERYTHING).count(id);

/** More resources than fit into one slice. */
const many = Array.from({ length: 15_000 }, (_, n) => `x:${n}`);

describe('Registry during the build of long lists', () => {
  it('lists the previous resources until all new ones are built', async () => {
    const registry = registryInStyle('original');
    await registry.put(await server('a', ...many));
    const b = await server('b', 'x:5', ...many.map((uri) => `${uri}/b`));
    const changes = recordChanges(registry);
    const built = registry.put(b);
    expect(urisIn(registry)).toEqual(many.toSorted());
    expect(registry.catalog.server('b')?.listing.resources.size).toBe(0);
    await built;
    expect(registry.catalog.server('b')?.listing.resources).toBe(b.listing.resources);
    expect(urisIn(registry)).toHaveLength(2 * many.length + 1);
    expect(urisIn(registry).slice(0, 2)).toEqual(['resource://a/x:5', 'resource://b/x:5']);
    expect(changes.map(({ resources }) => resources)).toEqual([new Set(['b'])]);
  });

  it('lists new tools before new resources, and keeps the previous resources until then', async () => {
    const registry = registryInStyle('original');
    await registry.put(await server('a', ...many));
    await registry.put(await server('b', 'y:1'));
    const next = await server('b', ...many);
    const built = registry.put({ ...next, listing: { ...next.listing, tools: [definition('t')] } });
    void registry.put({
      ...(await server('c')),
      listing: { ...UNFETCHED_LISTING, tools: [definition('t')] },
    });
    const { tools } = registry.catalog;
    for (const name of ['b__t', 'c__t']) expect(tools.view(EVERYTHING).find(name)).toBeDefined();
    expect(urisIn(registry)).toContain('y:1');
    await built;
    expect(sizeOf(registry, 'b')).toBe(many.length);
    expect(registry.catalog.tools.view(EVERYTHING).find('b__t')).toBeDefined();
    expect(urisIn(registry)).not.toContain('y:1');
  });

  it('does not list a server that was removed during its build', async () => {
    const registry = registryInStyle('original');
    const [b, c] = [await server('b', ...many), await server('c', ...many)];
    await registry.put(await server('a', ...many));
    const sizes: number[] = [];
    registry.onChange((_change, catalog) => sizes.push(catalog.resources.view(EVERYTHING).count('b')));
    void registry.put(b);
    registry.remove('b');
    await registry.put(c);
    expect(registry.catalog.servers.map(({ id }) => id)).toEqual(['a', 'c']);
    expect(new Set(sizes)).toEqual(new Set([0]));
  });

  it('lists nothing of a removed server at once, and frees its names later', async () => {
    const registry = registryInStyle('original');
    for (const id of ['a', 'b']) await registry.put(await server(id, ...many));
    void registry.put(await server('c', ...many));
    registry.remove('b');
    expect(sizeOf(registry, 'b')).toBe(0);
    expect(registry.catalog.server('b')).toBeUndefined();
    registry.remove('c');
    await registry.whenBuilt();
    expect(urisIn(registry)).toEqual(many.toSorted());
  });

  it('lists a server that was removed and put again during its first build', async () => {
    const registry = registryInStyle('original');
    await registry.put(await server('a', ...many));
    const [first, second] = [await server('b', ...many), await server('b', 'y:1')];
    const seen = new Set<number>();
    registry.onChange(() => seen.add(sizeOf(registry, 'b')));
    void registry.put(first);
    registry.remove('b');
    await registry.put(second);
    expect(sizeOf(registry, 'b')).toBe(1);
    expect(seen).toEqual(new Set([1]));
    expect(urisIn(registry)).toContain('x:1');
  });

  it('lists the latest of several listings of a server', async () => {
    const registry = registryInStyle('original');
    const [first, second, third, c] = await Promise.all([
      server('b', ...many),
      server('b', 'y:1', ...many),
      server('b', 'y:2'),
      server('c', ...many),
    ]);
    await registry.put(await server('a', ...many));
    const sizes = new Set<number>();
    registry.onChange(() => sizes.add(sizeOf(registry, 'b')));
    const built = [first, second, third].map((listed) => registry.put(listed));
    await Promise.all([...built, registry.put(c)]);
    expect(sizeOf(registry, 'b')).toBe(1);
    expect(urisIn(registry)).toContain('y:2');
    expect(sizes).not.toContain(many.length + 1);
  });

  it('detects conflicts between lists that are put at the same time', async () => {
    const registry = registryInStyle('original');
    const servers = await Promise.all(['c', 'a', 'b'].map((id) => server(id, ...many)));
    await Promise.all(servers.map((each) => registry.put(each)));
    expect(new Set(urisIn(registry)).size).toBe(3 * many.length);
  });
});
