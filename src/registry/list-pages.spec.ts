import { describe, expect, it } from '@jest/globals';
import { offer, only, tableOf } from '../../test/kit/offers.js';
import { buildDirectory, offersOf } from '../../test/kit/resource-offers.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { Limits } from '../config/limits.js';
import type { ResourceDirectory } from '../core/resources/resource-directory.js';
import type { Era } from '../core/errors.js';
import { EVERYTHING, type Scope } from '../core/scope.js';
import { buildPage, type Paged } from '../core/catalog/list-page.js';
import { ListPages } from './list-pages.js';

const newTable = () => tableOf(offer('a', 'always', 'x', 'y', 'z'), offer('b', 'always', 'x'));
const table = newTable();
const pagesOf = (pageSize: number): ListPages =>
  new ListPages(Object.assign(new Limits(), { pageSize }), new RandomCursorKey());
const pages = pagesOf(2);

interface Page {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor?: string;
}
const pageAt = async (cursor?: unknown, scope = EVERYTHING): Promise<Page> =>
  JSON.parse((await pages.page('tools', table.view(scope), scope, cursor)).text) as Page;
const pageOfAnotherGateway = async (): Promise<Page> =>
  JSON.parse(
    (await pagesOf(2).page('tools', newTable().view(EVERYTHING), EVERYTHING, undefined)).text,
  ) as Page;

const toolsIn = async (scope: Scope) => pages.page('tools', table.view(scope), scope, undefined);

const refused = expect.objectContaining({ kind: 'invalid-params' });

describe('ListPages', () => {
  it('serves pages of the configured size', async () => {
    const first = await pageAt();
    const second = await pageAt(first.nextCursor);
    expect([first, second].map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['a__x', 'a__y'],
      ['a__z', 'b__x'],
    ]);
    expect(second).not.toHaveProperty('nextCursor');
  });

  it('lists only the servers of the scope', async () => {
    expect((await pageAt(undefined, only('b'))).tools).toMatchObject([{ name: 'b__x' }]);
  });

  it('serves the same page object to all clients with the same view', async () => {
    const [one, other] = [await toolsIn(only('a')), await toolsIn(only('a'))];
    expect(one).toBe(other);
  });

  it('serves the same page object of resources to all clients with the same view', async () => {
    const directory = buildDirectory(
      await offersOf([{ server: 'a', uris: ['x:1', 'x:2', 'x:3'], templates: [] }]),
      'resource',
    );
    const pageIn = async (scope: Scope) =>
      pages.page('resources', directory.view(scope).resources, scope, undefined);
    const [one, other] = [await pageIn(only('a')), await pageIn(only('a'))];
    expect(one).toBe(other);
  });

  it('serves the same page object to clients of both eras, unless an entry of the page differs', async () => {
    const modernText = '{"name":"z","n":1.0}';
    const tools = ['w', 'x', 'y', 'z'].map((name) => ({
      name,
      text: JSON.stringify({ name, execution: {} }),
    }));
    const definitions = [...tools.slice(0, 3), { ...tools[3]!, modernText }];
    const list = tableOf({ ...offer('a', 'always'), definitions }).view(EVERYTHING);
    const pageIn = async (era: Era, cursor?: unknown) => pages.page('tools', list, EVERYTHING, cursor, era);
    const [first, last] = [await pageIn('2025'), await pageIn('2026')];
    expect(last).toBe(first);
    const { nextCursor } = JSON.parse(first.text) as Page;
    const [second, modern] = [await pageIn('2025', nextCursor), await pageIn('2026', nextCursor)];
    expect(second.text).toContain(
      '"execution":{},"_meta":{"io.gatehouse/server":"a","io.gatehouse/name":"z"}}]',
    );
    expect(modern.text).toContain('{"name":"a__z","n":1.0,"_meta"');
    expect(await pageIn('2026', nextCursor)).toBe(modern);
  });

  it.each([
    [
      'of another list',
      async () => pages.page('prompts', table.view(EVERYTHING), EVERYTHING, (await pageAt()).nextCursor),
    ],
    ['of another scope', async () => pageAt((await pageAt()).nextCursor, only('a'))],
    ['of another gateway', async () => pageAt((await pageOfAnotherGateway()).nextCursor)],
    ['that is empty', () => pageAt('')],
    ['that is null', () => pageAt(null)],
    ['that is a number', () => pageAt(1)],
    ['that is the bare position', () => pageAt('a__y')],
  ])('refuses a cursor %s', async (_what, act) => {
    await expect(act()).rejects.toEqual(refused);
  });
});

const directoryOf = async (...given: string[]): Promise<ResourceDirectory> =>
  buildDirectory(
    await offersOf([{ server: 'a', uris: given, templates: ['x:{y}', 'y:{y}', 'z:{y}'] }]),
    'resource',
  );

describe('ListPages of a list that is not sorted yet', () => {
  it('reads the page after the list was sorted', async () => {
    let isSorted = false;
    const list: Paged = {
      prepare: () => (isSorted ? undefined : Promise.resolve().then(() => (isSorted = true))),
      page: (request) => buildPage(request, isSorted ? [{ key: 'a', text: '{}' }] : []),
    };
    expect((await pages.page('tools', list, EVERYTHING, undefined)).text).toBe('{"tools":[{}]}');
  });
});

describe('ListPages of resources', () => {
  const uris = ['x:1', 'x:2', 'x:3'];

  interface ResourcePage {
    readonly resources: readonly { readonly uri: string }[];
    readonly nextCursor?: string;
  }
  const page = async (directory: ResourceDirectory, cursor?: unknown): Promise<ResourcePage> => {
    const { resources } = directory.view(EVERYTHING);
    return JSON.parse((await pages.page('resources', resources, EVERYTHING, cursor)).text) as ResourcePage;
  };

  it('accepts a cursor after a change of the list, even if its item was removed', async () => {
    const { nextCursor } = await page(await directoryOf(...uris));
    const after = await page(await directoryOf('x:1', 'x:20', 'x:3'), nextCursor);
    expect(after.resources.map(({ uri }) => uri)).toEqual(['resource://a/x:20', 'resource://a/x:3']);
  });

  it('refuses the cursor of another list or scope', async () => {
    const directory = await directoryOf(...uris);
    const { nextCursor } = await page(directory);
    const { templates, resources } = directory.view(EVERYTHING);
    expect(() => pages.page('resourceTemplates', templates, EVERYTHING, nextCursor)).toThrow(refused);
    expect(() => pages.page('resources', resources, only('a'), nextCursor)).toThrow(refused);
  });
});
