import { Logger } from '@nestjs/common';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { onCleanup } from '../../test/kit/cleanup.js';
import { resource, neverYield } from '../../test/kit/resource-offers.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import type { Definition } from '../core/naming/catalog-entry.js';
import { ResourceList } from '../core/resources/resource-list.js';
import { parseTemplates } from '../core/resources/resource-template.js';
import { SubscriptionTable } from '../core/subscriptions/subscription-table.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ResourceSearch } from '../meta-tools/resource-search.js';
import { Projects } from '../projects/projects.service.js';
import type { Subscribers } from '../subscriptions/subscribers.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests } from './list-requests.js';
import { ResourceLists } from './resource-lists.js';

beforeAll(() => Logger.overrideLogger(false));

const url = 'http://a.example/';
/** A plain object instead of an instance of the validated class. */
type Query = Pick<ListQuery, keyof ListQuery>;

const definitions = (key: string, listed: object[]): Definition[] =>
  listed.map((members) => ({
    name: (members as Record<string, string>)[key]!,
    text: JSON.stringify(members),
  }));

/** Five subscriptions of four subscribers: `ben` matches `x:1` twice, by URI and by template. */
function subscriptionTable(): SubscriptionTable {
  let last = 0;
  const table = new SubscriptionTable(() => String(++last));
  for (const [subscriber, uri] of [
    ['ann', 'x:1'],
    ['ben', 'x:1'],
    ['ben', 'x:{day}'],
    ['cid', 'x:*'],
    ['dan', 'x:2'],
  ] as const)
    table.add({ subscriber, principal: undefined, server: 'a', uri }, 0);
  return table;
}

function createLists() {
  const harness = new AdminHarness({
    mcpServers: { a: { url }, b: { url } },
    projects: { p: { servers: ['b'] } },
  });
  const { registry } = harness;
  const search = new ResourceSearch(registry);
  search.onModuleInit();
  const requests = new ListRequests(
    new Projects(harness.live, harness.state),
    harness.views,
    new RandomCursorKey(),
  );
  const subscribers = { table: subscriptionTable() } as unknown as Subscribers;
  const put = async (id: string, resources: object[], templates: object[] = []): Promise<void> => {
    const listing = {
      ...UNFETCHED_LISTING,
      resources: await ResourceList.build(id, definitions('uri', resources), neverYield),
      templates: (await parseTemplates(id, definitions('uriTemplate', templates), neverYield)).templates,
    };
    await registry.put({ id, rank: 0, style: 'always', disabledTools: new Set(), listing });
  };
  const lists = new ResourceLists(registry, requests, search, subscribers);
  return { lists, put, registry, search };
}

async function listsOfTwoServers() {
  const created = createLists();
  await created.put(
    'a',
    [
      { uri: 'x:1', name: 'log of Monday', mimeType: 'text/plain' },
      { uri: 'x:2', name: 'log of Tuesday' },
      { uri: 'x:3', name: 'picture' },
    ],
    [
      { uriTemplate: 'x:{day}', name: 'Day', description: 'any log' },
      { uriTemplate: 'y:{n}', title: 'other' },
    ],
  );
  await created.put('b', [{ uri: 'x:1', name: 'log of Friday' }], [{ uriTemplate: 'x:{day}', name: 'days' }]);
  return created;
}

const urisOf = async (query: Query): Promise<[string[], number]> => {
  const { items, total } = await (await listsOfTwoServers()).lists.resources({ limit: 100, ...query });
  return [items.map(({ uri }) => uri), total];
};

describe('ResourceLists.resources', () => {
  it('lets the event loop run while it searches', async () => {
    const { lists, put } = createLists();
    await put(
      'a',
      Array.from({ length: 600 }, (_, n) => ({ uri: `x:${n}`, name: 'log' })),
    );
    await lists.resources({ q: 'log' });
    const yieldIfDue = jest.fn(() => Promise.resolve());
    jest.spyOn(sliceScheduler, 'start').mockReturnValue(yieldIfDue);
    onCleanup(() => jest.restoreAllMocks());
    expect((await lists.resources({ q: 'log' })).total).toBe(600);
    // Once in the ranked search, and after every 256 matches.
    expect(yieldIfDue).toHaveBeenCalledTimes(4);
  });

  it('returns public URI, own URI and the number of subscribers by URI, pattern and containing resource', async () => {
    const { lists } = await listsOfTwoServers();
    const { items, total, nextCursor } = await lists.resources({ limit: 1 });
    expect(items).toEqual([
      {
        uri: 'resource://a/x:1',
        server: 'a',
        ownUri: 'x:1',
        original: 'x:1',
        id: 'a_x___1',
        subscribers: 3,
        definition: {
          uri: 'resource://a/x:1',
          name: 'log of Monday',
          mimeType: 'text/plain',
          _meta: { 'io.gatehouse/server': 'a', 'io.gatehouse/id': 'a_x___1' },
        },
      },
    ]);
    expect([total, typeof nextCursor]).toEqual([4, 'string']);
  });

  it.each<[Query, string[]]>([
    [{}, ['resource://a/x:1', 'resource://a/x:2', 'resource://a/x:3', 'resource://b/x:1']],
    [{ server: 'b' }, ['resource://b/x:1']],
    [{ project: 'p' }, ['resource://b/x:1']],
    [{ project: 'p', server: 'a' }, []],
    [{ q: 'log' }, ['resource://a/x:1', 'resource://b/x:1', 'resource://a/x:2']],
    [{ q: 'log mon' }, ['resource://a/x:1']],
    [{ q: 'log', server: 'a' }, ['resource://a/x:1', 'resource://a/x:2']],
    [{ q: 'log', project: 'p' }, ['resource://b/x:1']],
    [{ q: 'plain' }, ['resource://a/x:1']],
    [{ q: 'nothing' }, []],
  ])('filters by %j', async (query, expected) => {
    expect(await urisOf(query)).toEqual([expected, expected.length]);
  });

  it.each<Query>([{}, { q: 'log' }, { server: 'a' }, { q: 'log', server: 'a' }])(
    'returns pages that contain every resource once: %j',
    async (query) => {
      const { lists } = await listsOfTwoServers();
      const whole = await lists.resources({ ...query, limit: 100 });
      const paged = [];
      let cursor: string | undefined;
      do {
        const page = await lists.resources({ ...query, limit: 1, ...(cursor !== undefined && { cursor }) });
        expect(page.total).toBe(whole.total);
        paged.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(whole.items);
    },
  );

  it('returns the best thousand results of a search first, and the others by URI', async () => {
    const { lists, put } = createLists();
    const others = Array.from({ length: 1500 }, (_, at) => ({
      uri: `x:${String(at).padStart(4, '0')}`,
      name: at < 300 ? 'file' : 'error log',
      description: 'Has nothing to do with it. Rotated with the log.',
    }));
    await put('a', [...others, { uri: 'y:last', name: 'log' }]);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await lists.resources({ q: 'log', limit: 400, ...(cursor !== undefined && { cursor }) });
      expect(page.total).toBe(1501);
      found.push(...page.items.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found[0]).toBe('resource://a/y:last');
    expect(new Set(found).size).toBe(1501);
    expect(found.slice(1000)).toEqual(found.slice(1000).toSorted());
  });

  it('returns resources of the current catalog after it changed during the search', async () => {
    const { lists, put, registry, search } = await listsOfTwoServers();
    const matching = search.matching.bind(search);
    search.matching = async (...args) => {
      const found = [...(await matching(...args))];
      registry.remove('a');
      await put('b', [resource('x:1'), { uri: 'x:1', name: 'log' }]);
      return found;
    };
    const { items, total } = await lists.resources({ q: 'log' });
    expect(items.map(({ uri }) => uri)).toEqual(['resource://b/x:1']);
    expect(total).toBe(1);
  });
});

const templatesOf = async (query: Query): Promise<[string[], number]> => {
  const { items, total } = await (await listsOfTwoServers()).lists.templates({ limit: 100, ...query });
  return [items.map(({ uriTemplate }) => uriTemplate), total];
};

describe('ResourceLists.templates', () => {
  it.each<[Query, string[]]>([
    [{}, ['resource://a/x:{day}', 'resource://a/y:{n}', 'resource://b/x:{day}']],
    [{ server: 'b' }, ['resource://b/x:{day}']],
    [{ project: 'p' }, ['resource://b/x:{day}']],
    [{ q: 'DAY' }, ['resource://a/x:{day}', 'resource://b/x:{day}']],
    [{ q: 'any day' }, ['resource://a/x:{day}']],
    [{ q: 'other' }, ['resource://a/y:{n}']],
    // Names of JSON members are not searched.
    [{ q: 'title' }, []],
    [{ q: 'uriTemplate' }, []],
  ])('filters by %j', async (query, expected) => {
    expect(await templatesOf(query)).toEqual([expected, expected.length]);
  });

  it('returns pages with the own URI of each template', async () => {
    const { lists } = await listsOfTwoServers();
    const first = await lists.templates({ limit: 2 });
    const second = await lists.templates({ limit: 2, cursor: first.nextCursor! });
    expect(first.items).toHaveLength(2);
    expect(second).toEqual({
      items: [
        {
          uriTemplate: 'resource://b/x:{day}',
          server: 'b',
          ownUri: 'x:{day}',
          original: 'x:{day}',
          id: 'b_x___{day}',
          definition: expect.objectContaining({ uriTemplate: 'resource://b/x:{day}', name: 'days' }),
        },
      ],
      total: 3,
    });
  });
});
