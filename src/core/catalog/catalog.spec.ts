import { describe, expect, it } from '@jest/globals';
import { definition, listOf, plain, SEPARATOR } from '../../../test/kit/offers.js';
import { offerOf, neverYield } from '../../../test/kit/resource-offers.js';
import { Catalog, EMPTY_LISTING, type NamingStyles, type ListedServer } from './catalog.js';
import { EVERYTHING } from '../scope.js';

const server = (
  id: string,
  rank: number,
  listing: Partial<ListedServer['listing']>,
  more = {},
): ListedServer => ({
  id,
  rank,
  listing: { ...EMPTY_LISTING, ...listing },
  style: 'always',
  disabledTools: new Set(),
  ...more,
});
const NONE = { tools: new Set(), prompts: new Set(), resources: new Set() };
const [read, write, greet] = [definition('read'), definition('write'), definition('greet')];
const STYLE: NamingStyles = { separator: SEPARATOR, resources: 'resource', tools: [] };
const catalogOf = (...servers: ListedServer[]): Catalog => Catalog.EMPTY.next(servers, STYLE);

describe('Catalog', () => {
  it('offers nothing at first, under the right names', () => {
    const { tools, prompts, resources } = Catalog.EMPTY;
    expect(resources.view(EVERYTHING).sizeOf()).toBe(0);
    expect(tools.view(EVERYTHING).page('tools', '', 10, plain).text).toBe('{"tools":[]}');
    expect(prompts.view(EVERYTHING).page('prompts', '', 10, plain).text).toBe('{"prompts":[]}');
  });

  it('keeps tools and prompts apart, so that they may share names', () => {
    const { tools, prompts } = catalogOf(server('fs', 0, { tools: [read], prompts: [read, greet] }));
    expect([tools, prompts].map((table) => table.view(EVERYTHING).size)).toEqual([1, 2]);
    expect(tools.view(EVERYTHING).find('fs__greet')).toBeUndefined();
  });

  it('neither lists nor finds a disabled tool, and leaves the prompt of that name alone', () => {
    const { tools, prompts } = catalogOf(
      server('fs', 0, { tools: [read, write], prompts: [write] }, { disabledTools: new Set(['write']) }),
    );
    expect(listOf(tools)).not.toContain('write');
    for (const name of ['fs__write', 'write']) expect(tools.view(EVERYTHING).find(name)).toBeUndefined();
    expect(prompts.view(EVERYTHING).find('fs__write')).toBeDefined();
  });

  it('lets a disabled tool take no name from another server', () => {
    const never = { style: 'never' } as const;
    const { tools } = catalogOf(
      server('a', 0, { tools: [read] }, { ...never, disabledTools: new Set(['read']) }),
      server('b', 1, { tools: [read] }, never),
    );
    expect(tools.view(EVERYTHING).find('read')).toMatchObject({ server: 'b', publicName: 'read' });
  });

  it('disables by the own name of the server, not by the public one', () => {
    const { tools } = catalogOf(server('fs', 0, { tools: [read] }, { disabledTools: new Set(['fs__read']) }));
    expect(tools.view(EVERYTHING).find('fs__read')).toBeDefined();
  });

  it('stays as it is when the next one is made', () => {
    const first = catalogOf(server('fs', 0, { tools: [read] }));
    const text = listOf(first.tools);
    const next = first.next([server('fs', 0, { tools: [write] })], STYLE);
    expect(listOf(first.tools)).toBe(text);
    expect(first.servers).toHaveLength(1);
    expect(next.tools.view(EVERYTHING).find('read')).toBeUndefined();
  });

  it('takes over what did not change: the list of the other kind, the entries of the other server', () => {
    const fs = server('fs', 0, { tools: [read], prompts: [greet] });
    const first = catalogOf(fs);
    const next = first.next([fs, server('db', 1, { tools: [write] })], STYLE);
    const [before, after] = [first, next].map(({ tools }) => tools.view(EVERYTHING).find('fs__read'));
    expect(next.prompts).toBe(first.prompts);
    expect(after).toBe(before);
  });

  it('says per kind whose part of the list changed', () => {
    const fs = server('fs', 0, { tools: [read], prompts: [greet] });
    const first = catalogOf(fs);
    const next = first.next([fs, server('db', 1, { prompts: [greet] })], STYLE);
    expect(next.changesSince(first)).toEqual({ ...NONE, prompts: new Set(['db']) });
    expect(first.changesSince(Catalog.EMPTY)).toEqual({
      ...NONE,
      tools: new Set(['fs']),
      prompts: new Set(['fs']),
    });
    expect(first.changesSince(first)).toEqual(NONE);
  });

  it('counts disabling a tool as a change', () => {
    const first = catalogOf(server('fs', 0, { tools: [read, write] }));
    const disabled = server('fs', 0, { tools: [read, write] }, { disabledTools: new Set(['write']) });
    expect(first.next([disabled], STYLE).changesSince(first).tools).toEqual(new Set(['fs']));
  });
});

describe('the resources of a catalog', () => {
  it('are listed in the style of the house', async () => {
    const { resources, templates } = await offerOf('fs', ['x:1'], ['x:{y}']);
    const listed = server('fs', 0, { resources, templates });
    const urisIn = (style: NamingStyles['resources']): string[] => {
      const view = Catalog.EMPTY.next([listed], { ...STYLE, resources: style }).resources.view(EVERYTHING);
      return [...view.after('', 10)].map(({ uri }) => uri).concat(view.listedTemplates[0]!.uriTemplate);
    };
    expect(urisIn('resource')).toEqual(['resource://fs/x:1', 'resource://fs/x:{y}']);
    expect(urisIn('underscore')).toEqual(['fs_x___1', 'fs_x___{y}']);
    expect(urisIn('original')).toEqual(['x:1', 'x:{y}']);
  });

  it('count as changed where a resource or a template changed, and only there', async () => {
    const [one, other] = [await offerOf('fs', ['x:1'], ['x:{y}']), await offerOf('fs', ['x:2'], ['z:{y}'])];
    const { resources, templates } = one;
    const db = server('db', 1, { resources: (await offerOf('db', ['x:1'])).resources });
    const first = catalogOf(server('fs', 0, { resources, templates }), db);
    const withListing = (listing: Partial<ListedServer['listing']>): Catalog =>
      first.next([server('fs', 0, listing), db], STYLE);
    const changed = { ...NONE, resources: new Set(['fs']) };
    expect(withListing({ resources: other.resources, templates }).changesSince(first)).toEqual(changed);
    expect(withListing({ resources, templates: other.templates }).changesSince(first)).toEqual(changed);
    const same = withListing({ resources, templates, tools: [read] });
    expect(same.changesSince(first)).toEqual({ ...NONE, tools: new Set(['fs']) });
    expect(same.resources).toBe(first.resources);
  });
});

describe('the tools of the house', () => {
  it('come before those of all servers, and their change counts', () => {
    const house = { ...STYLE, tools: [read] };
    const servers = [server('fs', 0, { tools: [read] }, { style: 'never' })];
    const next = Catalog.EMPTY.next(servers, house);
    expect(next.tools.view(EVERYTHING).find('read')).toMatchObject({ server: '' });
    expect(next.tools.unlisted).toMatchObject([{ server: 'fs', ownName: 'read' }]);
    const without = next.next(servers, STYLE);
    expect(without.tools.view(EVERYTHING).find('read')).toMatchObject({ server: 'fs' });
    expect(without.changesSince(next).tools).toEqual(new Set(['', 'fs']));
  });
});

describe('prepare', () => {
  it('has nothing to do for few resources, nor in a style in which none meet', async () => {
    const many = Array.from({ length: 5000 }, (_, n) => `x:${n}`);
    const servers = await Promise.all(
      ['a', 'b'].map(async (id, rank) => server(id, rank, await offerOf(id, many))),
    );
    expect(Catalog.prepare(servers, 'resource', neverYield)).toBeUndefined();
    expect(Catalog.prepare(servers.slice(1), 'original', neverYield)).toBeUndefined();
    const prepared = Catalog.prepare(servers, 'original', neverYield);
    expect(prepared).toBeDefined();
    await prepared!();
    expect(Catalog.prepare(servers, 'original', neverYield)).toBeUndefined();
  });
});
