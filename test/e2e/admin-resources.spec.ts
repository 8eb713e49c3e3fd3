import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, AdminClient, VIEWER_TOKEN } from '../kit/admin-client.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { RawSession } from '../kit/raw-session.js';
import { ScriptedServer, text } from '../kit/scripted-server/scripted-server.js';
import { until } from '../kit/until.js';

const described = (uri: string, description: string): string =>
  JSON.stringify({ uri, name: uri.slice(uri.lastIndexOf('/') + 1), description, size: 7 });

interface Item {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

describe('resources in the admin API', () => {
  let files: ScriptedServer;
  let wiki: ScriptedServer;
  let gateway: Gateway;
  let client: AdminClient;

  beforeAll(async () => {
    [files, wiki] = await Promise.all([ScriptedServer.start(), ScriptedServer.start()]);
    for (let index = 0; index < 5; index++) {
      const uri = `file:///srv/report-${index}.md`;
      files.resource(
        uri,
        undefined,
        described(uri, index < 3 ? 'Quarterly figures' : 'Minutes of a meeting'),
      );
    }
    wiki.resource('wiki://figures', undefined, described('wiki://figures', 'All figures'));
    for (const [server, name] of [
      [files, 'open_file'],
      [wiki, 'open_page'],
    ] as const)
      server.tool(name, () => text('done'));
    files.template('file:///srv/{name}').template('file:///tmp/{name}');
    wiki.template(
      'wiki://{page}',
      JSON.stringify({ uriTemplate: 'wiki://{page}', name: 'Pages', title: 'Any page' }),
    );
    gateway = await startGateway({
      mcpServers: { files: files.http, wiki: wiki.http },
      projects: { reading: { servers: ['wiki'] } },
      admin: { token: ADMIN_TOKEN, viewerToken: VIEWER_TOKEN },
    });
    const both = ['files', 'wiki'];
    await gateway.listed({ tools: both, resources: both, resourceTemplates: both });
    client = new AdminClient(gateway);
  });

  async function uris(path: string): Promise<[uris: string[], total: unknown]> {
    const { status, json } = await client.get(path);
    expect(status).toBe(200);
    const items = (json['resources'] ?? json['resourceTemplates']) as Item[];
    return [items.map(({ uri, uriTemplate }) => uri ?? uriTemplate!), json['total']];
  }

  it('are listed with their public and own URIs', async () => {
    const { json } = await client.get('resources?server=wiki');
    expect(json).toMatchObject({
      resources: [
        {
          uri: 'resource://wiki/wiki://figures',
          server: 'wiki',
          ownUri: 'wiki://figures',
          original: 'wiki://figures',
          id: 'wiki_wiki___figures',
          definition: {
            uri: 'resource://wiki/wiki://figures',
            name: 'figures',
            description: 'All figures',
            size: 7,
            _meta: { 'io.gatehouse/server': 'wiki', 'io.gatehouse/id': 'wiki_wiki___figures' },
          },
        },
      ],
      total: 1,
    });
    const templates = await client.get('resource-templates?server=wiki');
    expect(templates.json).toMatchObject({
      resourceTemplates: [
        {
          uriTemplate: 'resource://wiki/wiki://{page}',
          server: 'wiki',
          ownUri: 'wiki://{page}',
          original: 'wiki://{page}',
          id: 'wiki_wiki___{page}',
        },
      ],
      total: 1,
    });
  });

  it.each(['tools', 'resources'] as const)(
    'and tools are shown as each of two clients with different scopes lists them: %s',
    async (list) => {
      const paths = ['/mcp', '/projects/reading/mcp'];
      const clients = await Promise.all(paths.map((path) => RawSession.open(gateway.urlOf(path))));
      const ids = clients.map(({ id }) => createHash('sha256').update(id).digest('hex').slice(0, 16));
      const answers = await Promise.all(ids.map((id) => client.get(`sessions/${id}/${list}`)));
      const shown = answers.map(({ json }) => (json[list] as Item[]).map(({ definition }) => definition));
      expect(shown).toEqual(await Promise.all(clients.map((each) => each.list(list))));
      expect(shown[1]!.length).toBeLessThan(shown[0]!.length);
      expect(JSON.stringify(shown[1])).not.toContain('files');
      const { nextCursor } = (await client.get(`sessions/${ids[0]}/${list}?limit=1`)).json;
      expect((await client.get(`sessions/${ids[1]}/${list}?cursor=${String(nextCursor)}`)).status).toBe(422);
      expect(await client.get(`sessions/0000000000000000/${list}`)).toMatchObject({
        status: 404,
        json: { type: 'urn:gatehouse:problem:not-found' },
      });
      await Promise.all(clients.map((each) => each.end()));
    },
  );

  it.each<[string, number]>([
    ['', 6],
    ['server=files', 5],
    ['project=reading', 1],
    ['q=figures', 4],
    ['q=quarterly', 3],
    ['q=figures&server=files', 3],
    ['q=figures&project=reading', 1],
    ['q=minutes%20meeting', 2],
    ['q=minutes%20quarterly', 0],
    ['q=report-3', 1],
    ['q=nothing', 0],
  ])('are filtered by ?%s', async (query, total) => {
    const [found, counted] = await uris(`resources?${query}`);
    expect([found.length, counted]).toEqual([total, total]);
    const ordered = query.includes('q=') ? found : found.toSorted();
    expect(found).toEqual(ordered);
  });

  it('are searched by relevance, best match first', async () => {
    const [found] = await uris('resources?q=figures');
    expect(found[0]).toBe('resource://wiki/wiki://figures');
  });

  it.each<[string, string[]]>([
    [
      '',
      [
        'resource://files/file:///srv/{name}',
        'resource://files/file:///tmp/{name}',
        'resource://wiki/wiki://{page}',
      ],
    ],
    ['server=files', ['resource://files/file:///srv/{name}', 'resource://files/file:///tmp/{name}']],
    ['project=reading', ['resource://wiki/wiki://{page}']],
    ['q=tmp', ['resource://files/file:///tmp/{name}']],
    ['q=any%20page', ['resource://wiki/wiki://{page}']],
  ])('have templates that are filtered by ?%s', async (query, expected) => {
    expect(await uris(`resource-templates?${query}`)).toEqual([expected, expected.length]);
  });

  it.each(['resources?', 'resources?q=figures&', 'resource-templates?'])(
    'come in pages with each entry once and the total (%s)',
    async (path) => {
      const [all, total] = await uris(path);
      const found: unknown[] = [];
      let cursor: unknown;
      do {
        const next = cursor === undefined ? '' : `&cursor=${cursor as string}`;
        const { json } = await client.get(`${path}limit=2${next}`);
        const items = (json['resources'] ?? json['resourceTemplates']) as Item[];
        expect(items.length).toBeLessThanOrEqual(2);
        expect(json['total']).toBe(total);
        found.push(...items.map(({ uri, uriTemplate }) => uri ?? uriTemplate));
        cursor = json['nextCursor'];
      } while (cursor !== undefined);
      expect(found).toEqual(all);
    },
  );

  it('are refused for a cursor of another list, and for unknown servers and projects', async () => {
    const { json } = await client.get('resources?limit=2');
    const cursor = String(json['nextCursor']);
    for (const [path, status] of [
      [`resources?q=figures&cursor=${cursor}`, 422],
      [`resource-templates?cursor=${cursor}`, 422],
      ['resources?cursor=invented', 422],
      ['resources?limit=0', 422],
      [`resources?q=${'x'.repeat(257)}`, 422],
      ['resources?server=unknown', 404],
      ['resource-templates?project=none', 404],
    ] as const) {
      const answer = await client.get(path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers['content-type']).toContain('application/problem+json');
    }
  });

  it('are shown to viewers, and not without a token', async () => {
    for (const path of ['resources', 'resource-templates']) {
      expect((await new AdminClient(gateway, VIEWER_TOKEN).get(path)).status).toBe(200);
      expect((await new AdminClient(gateway, null).get(path)).status).toBe(401);
    }
  });

  it('are described in the OpenAPI document', async () => {
    const { json } = await client.get('openapi.json');
    const paths = json['paths'] as Record<string, { get: { parameters: { name: string }[] } }>;
    for (const path of ['/admin/v1/resources', '/admin/v1/resource-templates']) {
      const names = paths[path]!.get.parameters.map(({ name }) => name);
      expect(names.toSorted()).toEqual(['cursor', 'limit', 'project', 'q', 'server']);
    }
  });

  it('are removed from lists and reads before the response to disable, with one list_changed per client', async () => {
    const sessions = await Promise.all(
      ['/mcp', '/projects/reading/mcp'].map((path) => RawSession.open(gateway.urlOf(path))),
    );
    const streams = await Promise.all(sessions.map((session) => session.listen()));
    const listChanges = (): number[] =>
      streams.map((stream) => stream.count('notifications/resources/list_changed'));
    const uri = 'resource://files/file:///srv/report-0.md';
    const asked = files.countOf('resources/read');

    await client.post('servers/files/disable');
    expect(await sessions[0]!.list('resources')).toHaveLength(1);
    expect(await sessions[0]!.list('resourceTemplates')).toHaveLength(1);
    expect((await sessions[0]!.read(uri)).error).toMatchObject({ code: -32002, data: { uri } });
    expect((await uris('resources'))[1]).toBe(1);
    expect((await uris('resources?q=quarterly'))[1]).toBe(0);
    expect(files.countOf('resources/read')).toBe(asked);
    await until('the client was notified', () => listChanges()[0] === 1);

    await client.post('servers/files/enable');
    await until('all are back', async () => (await uris('resources'))[1] === 6);
    expect((await sessions[0]!.read(uri)).result).toBeDefined();
    await until('they are found again', async () => (await uris('resources?q=quarterly'))[1] === 3);
    expect(listChanges()[1]).toBe(0);
  });
});
