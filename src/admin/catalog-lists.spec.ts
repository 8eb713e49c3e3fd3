import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { definition } from '../../test/kit/offers.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { PromptSearch, ToolSearch } from '../meta-tools/name-search.js';
import { EVERYTHING } from '../core/scope.js';
import { decideServer } from '../state/decisions.js';
import { Projects } from '../projects/projects.service.js';
import { CatalogLists } from './catalog-lists.js';
import type { ListQuery } from './dto/list-query.dto.js';
import { ListRequests } from './list-requests.js';

beforeAll(() => Logger.overrideLogger(false));

const url = 'http://a.example/';
/** A plain object instead of an instance of the validated class. */
type Query = Pick<ListQuery, keyof ListQuery>;
const harness = new AdminHarness({
  mcpServers: { a: { url }, b: { url }, c: { url } },
  projects: { p: { servers: ['b'] } },
});
const { registry } = harness;
await registry.putMetaTools([definition('search_tools')]);
await registry.put({
  id: 'a',
  rank: 0,
  style: 'always',
  disabledTools: new Set(['hidden']),
  listing: {
    ...UNFETCHED_LISTING,
    tools: [definition('read', ',"title":"Open Files","description":"of any Kind"'), definition('hidden')],
    prompts: [definition('greet')],
  },
});
await registry.put({
  id: 'b',
  rank: 1,
  style: 'never',
  disabledTools: new Set(),
  listing: { ...UNFETCHED_LISTING, tools: [definition('x'), definition('y', ',"title":7'), definition('z')] },
});
const lists = new CatalogLists(
  registry,
  new ListRequests(new Projects(harness.live, harness.state), harness.views, new RandomCursorKey()),
  new ToolSearch(registry),
  new PromptSearch(registry),
  harness.review,
);
const names = async (query: Query, kind: 'tools' | 'prompts' = 'tools'): Promise<string[]> =>
  (await lists[kind]({ limit: 100, ...query })).items.map(({ name }) => name);

describe('CatalogLists with a search', () => {
  beforeAll(async () => {
    await registry.put({
      id: 'c',
      rank: 2,
      style: 'always',
      disabledTools: new Set(),
      listing: {
        ...UNFETCHED_LISTING,
        tools: [
          definition('annotate', ',"description":"Adds a note to a page. Takes no screenshot."'),
          definition('bulk_screenshotter', ',"description":"Saves many pages."'),
          definition('take_screenshot', ',"description":"Takes a picture of a page."'),
        ],
        prompts: [
          definition('explain', ',"description":"Explains a diff before a review."'),
          definition('review', ',"description":"Reviews a diff."'),
        ],
      },
    });
  });
  afterAll(() => registry.remove('c'));

  it.each<[string, string[]]>([
    ['screenshot', ['c__take_screenshot', 'c__bulk_screenshotter', 'c__annotate']],
    ['take screenshots', ['c__take_screenshot', 'c__annotate']],
    ['eenshot', ['c__annotate', 'c__bulk_screenshotter', 'c__take_screenshot']],
  ])(
    'lists what contains all words of %j, best match first, and parts of words last',
    async (q, expected) => {
      expect(await names({ q, server: 'c' })).toEqual(expected);
    },
  );

  it('ranks prompts too', async () => {
    expect(await names({ q: 'review' }, 'prompts')).toEqual(['c__review', 'c__explain']);
  });

  it('returns ranked results in pages', async () => {
    const found: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await lists.tools({ q: 'screenshot', limit: 1, ...(cursor && { cursor }) });
      found.push(...page.items.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(found).toEqual(await names({ q: 'screenshot' }));
    expect(found).toHaveLength(3);
  });
});

describe('CatalogLists', () => {
  it('lists the tools of a session with meta tools first, in pages that only it can read', async () => {
    const first = await lists.toolsOfSession('s1', EVERYTHING, { limit: 1 });
    expect(first.items).toMatchObject([{ name: 'search_tools', server: 'gatehouse' }]);
    const rest = await lists.toolsOfSession('s1', EVERYTHING, { cursor: first.nextCursor! });
    expect(rest.items.map(({ name }) => name)).toEqual(['a__read', 'x', 'y', 'z']);
    await expect(lists.toolsOfSession('s2', EVERYTHING, { cursor: first.nextCursor! })).rejects.toMatchObject(
      {
        kind: 'invalid-input',
      },
    );
  });

  it('lists tools and prompts of servers as clients see them, without meta tools', async () => {
    expect(await names({})).toEqual(['a__read', 'x', 'y', 'z']);
    expect(await names({}, 'prompts')).toEqual(['a__greet']);
    expect((await lists.tools({ server: 'a' })).items).toEqual([
      {
        name: 'a__read',
        server: 'a',
        ownName: 'read',
        own: 'read',
        definition: expect.objectContaining({ name: 'a__read', title: 'Open Files' }),
        origin: 'config',
      },
    ]);
  });

  it('shows the decision about a tool, and whether it applies', async () => {
    await harness.state.update((decisions) =>
      decideServer(decisions, 'a', () => ({ tools: { read: true } })),
    );
    const [tool] = (await lists.tools({ server: 'a' })).items;
    expect(tool).toMatchObject({
      origin: 'admin',
      decision: { id: 'tool:a:read', change: 'enabled', effect: 'applied' },
    });
    const [prompt] = (await lists.prompts({ server: 'a' })).items;
    expect(prompt).not.toHaveProperty('origin');
    await harness.state.update((decisions) => decideServer(decisions, 'a', () => ({})));
  });

  it.each<[Query, string[]]>([
    [{ server: 'b' }, ['x', 'y', 'z']],
    [{ project: 'p' }, ['x', 'y', 'z']],
    [{ project: 'p', server: 'a' }, []],
    [{ q: 'files' }, ['a__read']],
    [{ q: 'KIND a__' }, ['a__read']],
    [{ q: 'files none' }, []],
    [{ q: '  ' }, ['a__read', 'x', 'y', 'z']],
    [{ q: 'x' }, ['x']],
    [{ q: '7' }, []],
  ])('filters by %j', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  it('returns pages of the requested size, the last without a cursor', async () => {
    const first = await lists.tools({ limit: 2 });
    expect(first.items.map(({ name }) => name)).toEqual(['a__read', 'x']);
    const second = await lists.tools({ limit: 2, cursor: first.nextCursor! });
    expect(second.items.map(({ name }) => name)).toEqual(['y', 'z']);
    expect(second).not.toHaveProperty('nextCursor');
  });
});
