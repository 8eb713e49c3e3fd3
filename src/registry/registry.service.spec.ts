import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { definition, listOf } from '../../test/kit/offers.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING, type CatalogChange, type ListedServer } from '../core/catalog/catalog.js';
import type { NamingStyle } from '../core/naming/naming.js';
import { EVERYTHING } from '../core/scope.js';
import { Registry } from './registry.service.js';

const RANKS = ['a', 'b', 'c'];

function server(
  id: string,
  tools: string[],
  style: NamingStyle = 'always',
  prompts: string[] = [],
): ListedServer {
  return {
    id,
    rank: RANKS.indexOf(id),
    listing: {
      ...UNFETCHED_LISTING,
      tools: tools.map((name) => definition(name)),
      prompts: prompts.map((name) => definition(name)),
    },
    style,
    disabledTools: new Set(),
  };
}

describe('Registry', () => {
  let registry: Registry;
  let changes: CatalogChange[];
  let warnings: unknown[];

  beforeEach(() => {
    registry = new Registry(new Naming());
    changes = [];
    registry.onChange((change) => changes.push(change));
    warnings = [];
    Logger.overrideLogger({ log() {}, error() {}, warn: (entry: unknown) => warnings.push(entry) });
  });

  afterEach(() => Logger.overrideLogger(false));

  const find = (name: string) => registry.catalog.tools.view(EVERYTHING).find(name)?.server;

  it('lists a server under names with the configured separator', async () => {
    registry = new Registry(Object.assign(new Naming(), { separator: '.' }));
    await registry.put(server('a', ['x']));
    expect(find('a.x')).toBe('a');
  });

  it('orders servers by rank, in whichever order they were put', async () => {
    for (const id of ['c', 'a', 'b']) await registry.put(server(id, ['x'], 'never'));
    expect(registry.catalog.servers.map(({ id }) => id)).toEqual(RANKS);
    expect(find('x')).toBe('a');
  });

  it('replaces the previous listing of a server', async () => {
    await registry.put(server('a', ['x']));
    await registry.put(server('a', ['y']));
    expect([find('a__x'), find('a__y')]).toEqual([undefined, 'a']);
  });

  it('lists nothing of a removed server', async () => {
    await registry.put(server('a', ['x']));
    registry.remove('a');
    expect(find('a__x')).toBeUndefined();
    expect(registry.catalog.servers).toEqual([]);
    expect(changes).toHaveLength(2);
  });

  it('announces the changed servers after the catalog was swapped', async () => {
    let seen: string | undefined;
    registry.onChange((change, catalog) => {
      expect(catalog).toBe(registry.catalog);
      seen = find('b__x');
    });
    await registry.put(server('b', ['x'], 'always', ['greet']));
    expect(changes).toEqual([{ tools: new Set(['b']), prompts: new Set(['b']), resources: new Set() }]);
    expect(seen).toBe('b');
  });

  it('announces the server that changed, not those whose names change with it', async () => {
    await registry.put(server('b', ['x'], 'conflict'));
    await registry.put(server('a', ['x'], 'conflict'));
    expect(changes.at(-1)!.tools).toEqual(new Set(['a']));
  });

  it.each([
    ['the same listing is put again', () => registry.put(server('a', ['x', 'y']))],
    ['it is put in another order', () => registry.put(server('a', ['y', 'x']))],
    ['a server without definitions is put', () => registry.put(server('b', []))],
    ['an unknown server is removed', async () => registry.remove('b')],
  ])('announces nothing when %s', async (_what, act) => {
    await registry.put(server('a', ['x', 'y']));
    await act();
    expect(changes).toHaveLength(1);
  });

  it('keeps the built lists when the same listing is put again', async () => {
    await registry.put(server('a', ['x']));
    const { tools } = registry.catalog;
    await registry.put(server('a', ['x']));
    expect(registry.catalog.tools).toBe(tools);
  });

  it('does not call a listener that was removed', async () => {
    const received: CatalogChange[] = [];
    const removeListener = registry.onChange((change) => received.push(change));
    removeListener();
    await registry.put(server('a', ['x']));
    expect(received).toEqual([]);
    expect(changes).toHaveLength(1);
  });

  it('logs a tool whose name belongs to another server', async () => {
    await registry.put(server('a', ['x'], 'never', ['greet']));
    await registry.put(server('b', ['x'], 'never', ['greet']));
    expect(warnings).toEqual([
      expect.objectContaining({ server: 'b', name: 'x' }),
      expect.objectContaining({ server: 'b', name: 'greet' }),
    ]);
  });

  it('logs a name that belongs to another server once, however often the listing is put', async () => {
    for (const id of ['a', 'b', 'b', 'a', 'c'])
      await registry.put(server(id, id === 'c' ? ['y'] : ['x'], 'never'));
    expect(warnings).toHaveLength(1);
  });

  it('logs a name again that its tool had meanwhile', async () => {
    for (const id of ['a', 'b']) await registry.put(server(id, ['x'], 'never'));
    registry.remove('a');
    await registry.whenBuilt();
    expect(find('x')).toBe('b');
    await registry.put(server('a', ['x'], 'never'));
    expect(warnings).toHaveLength(2);
  });

  it.each(['{"name":"x","_meta":null,"_meta":{}}', '{"name":"x","name":1}', '{"_meta":[],"name":"x"}'])(
    'lists other servers beside a malformed definition: %s',
    async (text) => {
      await registry.put({
        ...server('a', []),
        listing: { ...UNFETCHED_LISTING, tools: [{ name: 'x', text }] },
      });
      await registry.put(server('b', ['y']));
      expect(JSON.parse(listOf(registry.catalog.tools))).toMatchObject({
        tools: [
          { name: 'a__x', _meta: { 'io.gatehouse/server': 'a' } },
          { name: 'b__y', _meta: { 'io.gatehouse/server': 'b' } },
        ],
      });
    },
  );
});
