import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { EVERYTHING } from '../core/scope.js';

/** The right tools by query. */
type Queries = Readonly<Record<string, readonly string[]>>;

interface Recorded {
  readonly servers: readonly {
    readonly id: string;
    readonly tools: readonly { readonly name: string }[];
  }[];
  readonly queries: Queries;
  readonly furtherQueries: Queries;
  readonly tuningQueries: Queries;
  /** Never used to choose a parameter. */
  readonly heldBackQueries: Queries;
}

const LISTINGS = new URL('../../test/fixtures/real-tool-listings.json', import.meta.url);
const UNKNOWN = 'get the weather forecast';

describe('ToolSearch over the recorded listings of public servers', () => {
  const harness = new MetaToolHarness();
  let recorded: Recorded;

  const found = async (query: string): Promise<string[]> =>
    (await harness.toolSearch.search(query, EVERYTHING, 50)).map(
      ({ server, ownName }) => `${server}__${ownName}`,
    );

  /** The rank of the first right tool for each query, and how many are first and among the first three. */
  async function rank(queries: Queries): Promise<{ first: number; top3: number; missed: string[] }> {
    const ranks = await Promise.all(
      Object.entries(queries).map(async ([query, right]) => {
        const names = await found(query);
        const at = names.findIndex((name) => right.includes(name));
        return { query, at, names };
      }),
    );
    return {
      first: ranks.filter(({ at }) => at === 0).length,
      top3: ranks.filter(({ at }) => at >= 0 && at < 3).length,
      missed: ranks.flatMap(({ query, at, names }) =>
        at === 0 ? [] : [`${query}: rank ${at + 1} after ${names.slice(0, 3).join(', ')}`],
      ),
    };
  }

  beforeAll(async () => {
    recorded = JSON.parse(await readFile(LISTINGS, 'utf8')) as Recorded;
    for (const { id, tools } of recorded.servers) await harness.put(id, { tools });
  });

  it('has the tools of at least 30 servers', () => {
    expect(recorded.servers.length).toBeGreaterThanOrEqual(30);
  });

  it.each([
    ['queries', { first: 15, top3: 18 }],
    ['furtherQueries', { first: 20, top3: 20 }],
    ['tuningQueries', { first: 59, top3: 70 }],
    ['heldBackQueries', { first: 33, top3: 34 }],
  ] as const)('ranks the right tool first or among the first three for %s', async (set, expected) => {
    const { first, top3, missed } = await rank(recorded[set]);
    const isReached = first >= expected.first && top3 >= expected.top3;
    expect({ isReached, first, top3, missed }).toEqual({ isReached: true, first, top3, missed });
  });

  it('finds at most five tools where none fits', async () => {
    expect((await found(UNKNOWN)).slice(5)).toEqual([]);
  });
});
