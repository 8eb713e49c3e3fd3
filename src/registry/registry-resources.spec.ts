import { describe, expect, it } from '@jest/globals';
import { definition } from '../../test/kit/offers.js';
import { offerOf } from '../../test/kit/resource-offers.js';
import { until } from '../../test/kit/until.js';
import { Naming } from '../config/naming.js';
import { EMPTY_LISTING, type CatalogChange, type ListedServer } from '../core/catalog/catalog.js';
import { EVERYTHING } from '../core/scope.js';
import { Registry } from './registry.service.js';

async function server(id: string, ...uris: string[]): Promise<ListedServer> {
  const { resources, templates } = await offerOf(id, uris, ['y:{z}']);
  const listing = { ...EMPTY_LISTING, resources, templates };
  return { id, rank: 0, listing, style: 'always', disabledTools: new Set() };
}

const registryIn = (resources: Naming['resources']): Registry =>
  new Registry(Object.assign(new Naming(), { resources }));

const urisIn = ({ catalog }: Registry): string[] =>
  [...catalog.resources.view(EVERYTHING).after('', Infinity)].map(({ uri }) => uri);

function changesOf(registry: Registry): CatalogChange[] {
  const heard: CatalogChange[] = [];
  registry.onChange((change) => heard.push(change));
  return heard;
}

describe('the resources of the registry', () => {
  it('are listed in the style of the configuration', async () => {
    const registry = registryIn('underscore');
    registry.put(await server('a', 'x:1'));
    expect(urisIn(registry)).toEqual(['a_x___1']);
  });

  it('tell of the other server too when what its resources are called changes', async () => {
    const registry = registryIn('original');
    const heard = changesOf(registry);
    registry.put(await server('a', 'x:1'));
    registry.put(await server('b', 'x:1'));
    registry.remove('b');
    expect(heard.map(({ resources }) => [...resources].toSorted())).toEqual([['a'], ['a', 'b'], ['a', 'b']]);
    expect(urisIn(registry)).toEqual(['x:1']);
  });

  it('tell of nothing, and keep their pages, when the same lists come again with other tools', async () => {
    const registry = registryIn('resource');
    const a = await server('a', 'x:1');
    registry.put(a);
    const heard = changesOf(registry);
    const { resources } = registry.catalog;
    registry.put({ ...a, listing: { ...a.listing, tools: [definition('t')] } });
    expect(registry.catalog.resources).toBe(resources);
    expect(heard).toEqual([{ tools: new Set(['a']), prompts: new Set(), resources: new Set() }]);
  });
});

/** How many of its resources a server is listed with. */
const sizeOf = ({ catalog }: Registry, id: string): number => catalog.resources.view(EVERYTHING).sizeOf(id);

describe('long lists that have to be compared', () => {
  const many = Array.from({ length: 5000 }, (_, n) => `x:${n}`);

  it('come when that is done, and all at once', async () => {
    const registry = registryIn('original');
    registry.put(await server('a', ...many));
    registry.put(await server('b', 'x:5', ...many.map((uri) => `${uri}/b`)));
    expect(urisIn(registry)).toEqual(many.toSorted());
    const heard = changesOf(registry);
    await until('the second list comes', () => sizeOf(registry, 'b') > 0);
    expect(urisIn(registry)).toHaveLength(10_001);
    expect(urisIn(registry).slice(0, 2)).toEqual(['resource://a/x:5', 'resource://b/x:5']);
    expect(heard.map(({ resources }) => resources)).toEqual([new Set(['a', 'b'])]);
  });

  it('hold up nothing else of their server, and leave what it had', async () => {
    const registry = registryIn('original');
    registry.put(await server('a', ...many));
    registry.put(await server('b', 'y:1'));
    const next = await server('b', ...many);
    registry.put({ ...next, listing: { ...next.listing, tools: [definition('t')] } });
    expect(registry.catalog.tools.view(EVERYTHING).find('b__t')).toBeDefined();
    expect(urisIn(registry)).toContain('y:1');
    await until('the list comes', () => sizeOf(registry, 'b') === 5000);
    expect(registry.catalog.tools.view(EVERYTHING).find('b__t')).toBeDefined();
    expect(urisIn(registry)).not.toContain('y:1');
  });

  it('do not come when the server was removed meanwhile', async () => {
    const registry = registryIn('original');
    const [b, c] = [await server('b', ...many), await server('c', ...many)];
    registry.put(await server('a', ...many));
    registry.put(b);
    registry.remove('b');
    registry.put(c);
    await until('the third list comes', () => sizeOf(registry, 'c') > 0);
    expect(registry.catalog.servers.map(({ id }) => id)).toEqual(['a', 'c']);
  });

  it('come as they were put last', async () => {
    const registry = registryIn('original');
    const [first, second, third, c] = await Promise.all([
      server('b', ...many),
      server('b', 'y:1', ...many),
      server('b', 'y:2'),
      server('c', ...many),
    ]);
    registry.put(await server('a', ...many));
    for (const listed of [first, second, third]) registry.put(listed);
    registry.put(c);
    await until('the last list comes', () => sizeOf(registry, 'c') > 0);
    expect(sizeOf(registry, 'b')).toBe(1);
    expect(urisIn(registry)).toContain('y:2');
  });

  it('are compared with what comes meanwhile, too', async () => {
    const registry = registryIn('original');
    registry.put(await server('c', ...many));
    const [a, b] = [await server('a', ...many), await server('b', ...many)];
    registry.put(a);
    registry.put(b);
    await until('both come', () => sizeOf(registry, 'a') > 0 && sizeOf(registry, 'b') > 0);
    expect(new Set(urisIn(registry)).size).toBe(15_000);
  });
});
