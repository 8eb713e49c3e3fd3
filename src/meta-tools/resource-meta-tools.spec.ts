import { beforeAll, describe, expect, it } from '@jest/globals';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { only } from '../../test/kit/offers.js';
import { STYLES } from '../../test/kit/resource-offers.js';

const LOG = {
  uri: 'file:///logs/app.log',
  name: 'app.log',
  title: 'Log of the app',
  description: 'All that happens',
  mimeType: 'text/plain',
  size: 1024,
  annotations: { priority: 1 },
  _meta: { own: true },
};
const ROW = { uriTemplate: 'mcp://db/{table}/{id}', name: 'row', description: 'A row', mimeType: 'text/csv' };

const harnessInStyle = async (
  resources: 'resource' | 'underscore' | 'original',
): Promise<MetaToolHarness> => {
  const harness = new MetaToolHarness({ resources });
  await harness.put('filesystem', { resources: [LOG, { uri: 'file:///x', name: 'x' }] });
  await harness.put('db', { resources: [{ uri: 'mcp://db/all', name: 'all' }], templates: [ROW] });
  return harness;
};

let harness: MetaToolHarness;
beforeAll(async () => {
  harness = await harnessInStyle('resource');
});

const uris = (answer: Readonly<Record<string, unknown>>): string[] =>
  (answer['resources'] as { uri: string }[]).map(({ uri }) => uri);

describe('catalog_resources', () => {
  it('returns summaries in alphabetical order', async () => {
    expect(await harness.callStructured('catalog_resources', {})).toEqual({
      resources: [
        { uri: 'resource://db/mcp://db/all', name: 'all', serverId: 'db' },
        {
          uri: 'resource://filesystem/file:///logs/app.log',
          name: 'app.log',
          title: 'Log of the app',
          mimeType: 'text/plain',
          size: 1024,
          serverId: 'filesystem',
        },
        { uri: 'resource://filesystem/file:///x', name: 'x', serverId: 'filesystem' },
      ],
    });
  });

  it('filters by server within the scope', async () => {
    expect(uris(await harness.callStructured('catalog_resources', { serverId: 'db' }))).toEqual([
      'resource://db/mcp://db/all',
    ]);
    for (const serverId of ['none', '', 'filesystem'])
      expect(await harness.callStructured('catalog_resources', { serverId }, only('db'))).toEqual({
        resources: [],
      });
  });

  it('neither repeats nor omits resources when one is added or removed between two pages', async () => {
    const changing = new MetaToolHarness();
    await changing.put('a', { resources: ['x:1', 'x:2', 'x:3', 'x:4'].map((uri) => ({ uri })) });
    const first = await changing.callStructured('catalog_resources', { limit: 2 });
    await changing.put('a', { resources: ['x:0', 'x:1', 'x:3', 'x:4', 'x:5'].map((uri) => ({ uri })) });
    const second = await changing.callStructured('catalog_resources', {
      limit: 2,
      cursor: first['nextCursor'],
    });
    expect([...uris(first), ...uris(second)]).toEqual(
      ['x:1', 'x:2', 'x:3', 'x:4'].map((uri) => `resource://a/${uri}`),
    );
    expect(second).toHaveProperty('nextCursor');
  });
});

describe('describe_resource', () => {
  it.each(STYLES)('accepts every URI form and returns the whole definition, in style %s', async (style) => {
    const styled = await harnessInStyle(style);
    const uri = {
      resource: 'resource://filesystem/file:///logs/app.log',
      underscore: 'filesystem_file___logs_app.log',
      original: 'file:///logs/app.log',
    }[style];
    for (const text of [
      'file:///logs/app.log',
      'resource://filesystem/file:///logs/app.log',
      'filesystem_file___logs_app.log',
    ])
      expect(await styled.callStructured('describe_resource', { uri: text })).toEqual({
        resource: {
          ...LOG,
          uri,
          _meta: {
            own: true,
            'io.gatehouse/server': 'filesystem',
            'io.gatehouse/id': 'filesystem_file___logs_app.log',
          },
        },
      });
  });

  it('returns the template that a URI matches or names', async () => {
    const expected = {
      resourceTemplate: {
        ...ROW,
        uriTemplate: 'resource://db/mcp://db/{table}/{id}',
        _meta: { 'io.gatehouse/server': 'db', 'io.gatehouse/id': 'db_mcp___db_{table}_{id}' },
      },
    };
    for (const uri of [
      'mcp://db/users/5',
      'resource://db/mcp://db/users/5',
      'db_mcp___db_users_5',
      'mcp://db/{table}/{id}',
      'resource://db/mcp://db/{table}/{id}',
      'db_mcp___db_{table}_{id}',
    ])
      expect(await harness.callStructured('describe_resource', { uri })).toEqual(expected);
  });

  it('does not find a resource out of scope', async () => {
    for (const uri of ['file:///x', 'resource://filesystem/file:///x', 'filesystem_file___x'])
      expect(await harness.call('describe_resource', { uri }, only('db'))).toMatchObject({ isError: true });
  });
});

const search = async (args: object): Promise<string[]> =>
  uris(await harness.callStructured('search_resources', { query: 'file mcp', ...args }));

describe('search_resources', () => {
  it('returns summaries with public URIs, best match first, within the scope', async () => {
    expect(await harness.callStructured('search_resources', { query: 'log' })).toEqual({
      resources: [
        {
          uri: 'resource://filesystem/file:///logs/app.log',
          name: 'app.log',
          title: 'Log of the app',
          mimeType: 'text/plain',
          size: 1024,
          serverId: 'filesystem',
        },
      ],
    });
    expect(await harness.callStructured('search_resources', { query: 'log' }, only('db'))).toEqual({
      resources: [],
    });
  });

  it('accepts a MIME type and a limit', async () => {
    expect(await search({})).toHaveLength(3);
    expect(await search({ limit: 1 })).toHaveLength(1);
    expect(await search({ mimeType: 'text/*' })).toEqual(['resource://filesystem/file:///logs/app.log']);
    expect(await search({ mimeType: 'image/png' })).toEqual([]);
  });

  it('omits resources that were removed during the search', async () => {
    const changing = new MetaToolHarness();
    const many = Array.from({ length: 3000 }, (_, n) => ({ uri: `x:${n}`, name: 'log' }));
    await changing.put('slow', { resources: many });
    await changing.put('gone', { resources: [{ uri: 'y:1', name: 'log' }] });
    const find = changing.resourceSearch.search.bind(changing.resourceSearch);
    // Removes a server between the end of the search and the response.
    changing.resourceSearch.search = async (...args) => {
      const found = await find(...args);
      changing.registry.remove('gone');
      return found;
    };
    const found = uris(await changing.callStructured('search_resources', { query: 'log', limit: 100 }));
    expect(found.filter((uri) => !uri.startsWith('resource://slow/'))).toEqual([]);
    expect(found.length).toBeGreaterThan(90);
  });
});

describe('catalog_resource_templates', () => {
  const summary = {
    uriTemplate: 'resource://db/mcp://db/{table}/{id}',
    name: 'row',
    description: 'A row',
    mimeType: 'text/csv',
    serverId: 'db',
  };

  it('returns all templates, or those of one server, within the scope', async () => {
    expect(await harness.callStructured('catalog_resource_templates', {})).toEqual({
      resourceTemplates: [summary],
    });
    expect(await harness.callStructured('catalog_resource_templates', { serverId: 'db' })).toEqual({
      resourceTemplates: [summary],
    });
    expect(await harness.callStructured('catalog_resource_templates', { serverId: 'filesystem' })).toEqual({
      resourceTemplates: [],
    });
    expect(await harness.callStructured('catalog_resource_templates', {}, only('filesystem'))).toEqual({
      resourceTemplates: [],
    });
  });
});
