import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { only } from '../../test/kit/offers.js';
import { listOf, SERVERS } from '../../test/kit/resource-offers.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { EVERYTHING, type Scope } from '../core/scope.js';

const addresses = (found: Iterable<{ server: string; uri: string }>): string[] =>
  [...found].map(({ server, uri }) => `${server} ${uri}`);

const search = async (
  harness: MetaToolHarness,
  query: string,
  scope: Scope = EVERYTHING,
  mimeType?: string,
) => addresses(await harness.resourceSearch.search(query, { scope, limit: 100, mimeType }));

describe('ResourceSearch.search', () => {
  it.each([
    ['name', { name: 'needle' }],
    ['title', { title: 'the needle' }],
    ['description', { description: 'is a needle in hay' }],
    ['URI', { uri: 'x:needle' }],
    ['MIME type', { mimeType: 'needle/plain' }],
  ])('finds a resource by words in its %s', async (_what, members) => {
    const harness = new MetaToolHarness();
    await harness.put('a', {
      resources: [
        { uri: 'x:1', ...members },
        { uri: 'x:2', name: 'hay' },
      ],
    });
    expect(await search(harness, 'needle')).toHaveLength(1);
  });

  it('returns the best match first', async () => {
    const harness = new MetaToolHarness();
    await harness.put('a', {
      resources: [
        { uri: 'x:1', name: 'other', description: 'mentions the invoice once, among many other things' },
        { uri: 'x:2', name: 'invoice' },
      ],
    });
    expect(await search(harness, 'invoice')).toEqual(['a x:2', 'a x:1']);
  });

  it('returns nothing out of scope and at most `limit` results', async () => {
    const harness = new MetaToolHarness();
    for (const server of ['a', 'b'])
      await harness.put(server, { resources: [1, 2, 3].map((n) => ({ uri: `x:${n}`, name: 'log' })) });
    expect(await search(harness, 'log', only('b'))).toEqual(['b x:1', 'b x:2', 'b x:3']);
    expect(await search(harness, 'log', only('c'))).toEqual([]);
    expect(await harness.resourceSearch.search('log', { scope: EVERYTHING, limit: 2 })).toHaveLength(2);
    expect(addresses(await harness.resourceSearch.matching('log', only('a'))).toSorted()).toHaveLength(3);
  });

  it.each([
    ['text/plain', ['a x:1', 'a x:2']],
    ['TEXT/Plain; charset=x', ['a x:1', 'a x:2']],
    ['text/*', ['a x:1', 'a x:2', 'a x:3']],
    ['*/*', ['a x:1', 'a x:2', 'a x:3', 'a x:4']],
    ['image/*', ['a x:4']],
    ['text', []],
    ['', []],
  ])('filters by the MIME type %j', async (mimeType, expected) => {
    const harness = new MetaToolHarness();
    const types = ['text/plain', 'Text/PLAIN; charset=utf-8', 'text/html', 'image/png', undefined, 7];
    await harness.put('a', {
      resources: types.map((type, n) => ({ uri: `x:${n + 1}`, name: 'file', mimeType: type })),
    });
    expect((await search(harness, 'file', EVERYTHING, mimeType)).toSorted()).toEqual(expected);
  });
});

describe('ResourceSearch index', () => {
  type Step = { readonly server: string; readonly words: Readonly<Record<string, string>> | 'removed' };
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      server: fc.constantFrom(...SERVERS.slice(0, 3)),
      words: fc.oneof(
        {
          weight: 5,
          arbitrary: fc.dictionary(
            fc.constantFrom('x:1', 'x:2', 'x:3', 'x:4', 'x:5'),
            fc.constantFrom('red', 'blue'),
          ),
        },
        { weight: 1, arbitrary: fc.constant('removed' as const) },
      ),
    }),
    { maxLength: 25 },
  );

  it('matches the registry after any sequence of changes and searches', () =>
    fc.assert(
      fc.asyncProperty(steps, fc.infiniteStream(fc.nat(3)), async (changes, pauses) => {
        const harness = new MetaToolHarness();
        const model = new Map<string, Readonly<Record<string, string>>>();
        const running: Promise<unknown>[] = [];
        for (const { server, words } of changes) {
          if (words === 'removed') {
            harness.registry.remove(server);
            model.delete(server);
          } else {
            const resources = Object.entries(words).map(([uri, name]) => ({ uri, name }));
            await harness.put(server, { resources });
            model.set(server, words);
          }
          const pause = pauses.next().value as number;
          if (pause === 1) running.push(search(harness, 'red'));
          if (pause === 2) await search(harness, 'red');
          if (pause === 3) await new Promise((resolve) => setImmediate(resolve));
        }
        for (const color of ['red', 'blue']) {
          const expected = [...model].flatMap(([server, words]) =>
            Object.entries(words).flatMap(([uri, name]) => (name === color ? [`${server} ${uri}`] : [])),
          );
          expect((await search(harness, color)).toSorted()).toEqual(expected.toSorted());
        }
        await Promise.all(running);
      }),
      { numRuns: 60 },
    ));

  it('returns the resources of the current listing, also where their definition did not change', async () => {
    const harness = new MetaToolHarness();
    const kept = { uri: 'x:1', name: 'log' };
    await harness.put('a', { resources: [kept, { uri: 'x:2', name: 'log' }] });
    await search(harness, 'log');
    await harness.put('a', { resources: [kept] });
    const found = await harness.resourceSearch.search('log', { scope: EVERYTHING, limit: 10 });
    const { resources } = harness.registry.catalog.servers[0]!.listing;
    expect(found).toEqual([resources.find('x:1')]);
    expect(found[0]).toBe(resources.find('x:1'));
  });

  it('is complete for a search that starts during a long sync', async () => {
    const harness = new MetaToolHarness();
    const uris = Array.from({ length: 4000 }, (_, n) => `x:${n}/log`);
    const put = async (...listed: string[]): Promise<void> =>
      harness.registry.put({
        id: 'a',
        rank: 0,
        style: 'always',
        disabledTools: new Set(),
        listing: { ...UNFETCHED_LISTING, resources: await listOf('a', ...listed) },
      });
    await put(...uris);
    const first = harness.resourceSearch.matching('log', EVERYTHING);
    await put(...uris.slice(1000), 'y:log');
    const second = harness.resourceSearch.matching('log', EVERYTHING);
    expect(addresses(await second)).toHaveLength(3001);
    expect(addresses(await first).length).toBeGreaterThanOrEqual(3001);
    harness.registry.remove('a');
    expect(addresses(await harness.resourceSearch.matching('log', EVERYTHING))).toEqual([]);
  });
});
