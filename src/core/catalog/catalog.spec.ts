import { describe, expect, it } from '@jest/globals';
import { definition, listOf, pageOf, SEPARATOR } from '../../../test/kit/offers.js';
import { offerOf } from '../../../test/kit/resource-offers.js';
import { runSteps } from '../../../test/kit/run-steps.js';
import { CatalogBuilder, type NamingStyles } from './catalog-builder.js';
import { Catalog, UNFETCHED_LISTING, type ListedServer } from './catalog.js';
import type { Definition } from '../naming/catalog-entry.js';
import { newConflicts } from '../naming/name-conflicts.js';
import { NameTable } from '../naming/name-table.js';
import { EVERYTHING } from '../scope.js';

const server = (
  id: string,
  rank: number,
  listing: Partial<ListedServer['listing']>,
  more = {},
): ListedServer => ({
  id,
  rank,
  listing: { ...UNFETCHED_LISTING, ...listing },
  style: 'always',
  disabledTools: new Set(),
  ...more,
});
const NONE = { tools: new Set(), prompts: new Set(), resources: new Set() };
const [read, write, greet] = [definition('read'), definition('write'), definition('greet')];
const STYLES: NamingStyles = { separator: SEPARATOR, resources: 'resource' };

/** A builder that runs each change to its end. */
class Harness {
  private readonly builder: CatalogBuilder;

  constructor(styles = STYLES) {
    this.builder = new CatalogBuilder(styles);
  }

  put(...servers: ListedServer[]): Catalog {
    for (const each of servers) {
      runSteps(this.builder.putNames(each));
      runSteps(this.builder.putResources(each));
    }
    return this.builder.build();
  }

  putMetaTools(...tools: Definition[]): Catalog {
    runSteps(this.builder.putMetaTools(tools));
    return this.builder.build();
  }
}

const catalogOf = (...servers: ListedServer[]): Catalog => new Harness().put(...servers);

describe('Catalog', () => {
  it('is empty at first and names its lists after their member', () => {
    const { tools, prompts, resources } = Catalog.EMPTY;
    expect(resources.view(EVERYTHING).count()).toBe(0);
    expect(pageOf(tools.view(EVERYTHING), 'tools')).toBe('{"tools":[]}');
    expect(pageOf(prompts.view(EVERYTHING), 'prompts')).toBe('{"prompts":[]}');
  });

  it('lets a tool and a prompt have the same name', () => {
    const { tools, prompts } = catalogOf(server('fs', 0, { tools: [read], prompts: [read, greet] }));
    expect([tools, prompts].map((table) => [...table.view(EVERYTHING).after('')].length)).toEqual([1, 2]);
    expect(tools.view(EVERYTHING).find('fs__greet')).toBeUndefined();
  });

  it('neither lists nor finds a disabled tool, and keeps the prompt of that name', () => {
    const { tools, prompts } = catalogOf(
      server('fs', 0, { tools: [read, write], prompts: [write] }, { disabledTools: new Set(['write']) }),
    );
    expect(listOf(tools)).not.toContain('write');
    for (const name of ['fs__write', 'write']) expect(tools.view(EVERYTHING).find(name)).toBeUndefined();
    expect(prompts.view(EVERYTHING).find('fs__write')).toBeDefined();
  });

  it('gives the name of a disabled tool to another server', () => {
    const never = { style: 'never' } as const;
    const { tools } = catalogOf(
      server('a', 0, { tools: [read] }, { ...never, disabledTools: new Set(['read']) }),
      server('b', 1, { tools: [read] }, never),
    );
    expect(tools.view(EVERYTHING).find('read')).toMatchObject({ server: 'b', publicName: 'read' });
  });

  it('disables tools by own name, not by public name', () => {
    const { tools } = catalogOf(server('fs', 0, { tools: [read] }, { disabledTools: new Set(['fs__read']) }));
    expect(tools.view(EVERYTHING).find('fs__read')).toBeDefined();
  });

  it('does not change when the next catalog is built', () => {
    const harness = new Harness();
    const first = harness.put(server('fs', 0, { tools: [read] }));
    const text = listOf(first.tools);
    const next = harness.put(server('fs', 0, { tools: [write] }));
    expect(listOf(first.tools)).toBe(text);
    expect(first.servers).toHaveLength(1);
    expect(next.tools.view(EVERYTHING).find('read')).toBeUndefined();
  });

  it('reuses the list of the other kind and the entries of the other server', () => {
    const fs = server('fs', 0, { tools: [read], prompts: [greet] });
    const harness = new Harness();
    const first = harness.put(fs);
    const next = harness.put(server('db', 1, { tools: [write] }));
    const [before, after] = [first, next].map(({ tools }) => tools.view(EVERYTHING).find('fs__read'));
    expect(next.prompts).toBe(first.prompts);
    expect(after).toBe(before);
  });

  it('reports per kind the servers whose part of the list changed', () => {
    const fs = server('fs', 0, { tools: [read], prompts: [greet] });
    const harness = new Harness();
    const first = harness.put(fs);
    const next = harness.put(server('db', 1, { prompts: [greet] }));
    expect(next.changesSince(first)).toEqual({ ...NONE, prompts: new Set(['db']) });
    expect(first.changesSince(Catalog.EMPTY)).toEqual({
      ...NONE,
      tools: new Set(['fs']),
      prompts: new Set(['fs']),
    });
    expect(first.changesSince(first)).toEqual(NONE);
  });

  it('counts disabling a tool as a change', () => {
    const harness = new Harness();
    const first = harness.put(server('fs', 0, { tools: [read, write] }));
    const disabled = server('fs', 0, { tools: [read, write] }, { disabledTools: new Set(['write']) });
    expect(harness.put(disabled).changesSince(first).tools).toEqual(new Set(['fs']));
  });
});

describe('Catalog resources', () => {
  it('are listed in the configured style', async () => {
    const { resources, templates } = await offerOf('fs', ['x:1'], ['x:{y}']);
    const listed = server('fs', 0, { resources, templates });
    const urisIn = (style: NamingStyles['resources']): string[] => {
      const view = new Harness({ ...STYLES, resources: style }).put(listed).resources.view(EVERYTHING);
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
    const replacing = (listing: Partial<ListedServer['listing']>): readonly [Catalog, Catalog] => {
      const harness = new Harness();
      const first = harness.put(server('fs', 0, { resources, templates }), db);
      return [first, harness.put(server('fs', 0, listing))];
    };
    for (const listing of [
      { resources: other.resources, templates },
      { resources, templates: other.templates },
    ]) {
      const [first, next] = replacing(listing);
      expect(next.changesSince(first)).toEqual({ ...NONE, resources: new Set(['fs']) });
    }
    const [first, same] = replacing({ resources, templates, tools: [read] });
    expect(same.changesSince(first)).toEqual({ ...NONE, tools: new Set(['fs']) });
    expect(same.resources).toBe(first.resources);
  });
});

describe('Catalog meta tools', () => {
  it('take precedence over tools of servers, and count as a change', () => {
    const harness = new Harness();
    harness.put(server('fs', 0, { tools: [read] }, { style: 'never' }));
    const next = harness.putMetaTools(read);
    expect(next.tools.view(EVERYTHING).find('read')).toMatchObject({ server: '' });
    expect(runSteps(newConflicts(NameTable.EMPTY, next.tools))).toEqual([
      { kind: 'unlisted', server: 'fs', name: 'read' },
    ]);
    const without = harness.putMetaTools();
    expect(without.tools.view(EVERYTHING).find('read')).toMatchObject({ server: 'fs' });
    expect(without.changesSince(next).tools).toEqual(new Set(['']));
  });
});

describe('Catalog.without', () => {
  it('removes everything of the server and keeps the rest', async () => {
    const { resources, templates } = await offerOf('fs', ['x:1'], ['x:{y}']);
    const listing = { tools: [read], prompts: [greet], resources, templates };
    const both = catalogOf(server('fs', 0, listing), server('db', 1, { tools: [write] }));
    const one = both.without('fs');
    expect(one.servers.map(({ id }) => id)).toEqual(['db']);
    expect(one.server('fs')).toBeUndefined();
    expect(['fs__read', 'db__write'].map((name) => one.tools.view(EVERYTHING).find(name)?.server)).toEqual([
      undefined,
      'db',
    ]);
    expect(one.resources.view(EVERYTHING).find('resource://fs/x:1')).toBeUndefined();
    const fs = new Set(['fs']);
    expect(one.changesSince(both)).toEqual({ tools: fs, prompts: fs, resources: fs });
    expect(both.without('other')).toBe(both);
  });
});
