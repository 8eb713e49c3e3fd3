import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { everythingOverStdio, filesystem, memory, startEverything } from '../kit/real-servers.js';
import { connectV1, connectV2, type ClientV1, type ClientV2 } from '../kit/sdk-clients.js';
import { tempDir } from '../kit/temp-dir.js';
import { until } from '../kit/until.js';

/** The same server over each transport. */
const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
const DOCUMENTS = resolve('node_modules/@modelcontextprotocol/server-everything/dist/docs');
/** Resources created by the test, more than fit on one page. */
const MANY = 100;

type Contents = readonly { readonly uri: string; readonly text?: string; readonly blob?: string }[];

async function allUris(client: ClientV1 | ClientV2): Promise<string[]> {
  const uris: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    uris.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return uris;
}

const read = async (client: ClientV1 | ClientV2, uri: string): Promise<Contents> =>
  (await client.readResource({ uri })).contents;

describe('resources of real servers over stdio, Streamable HTTP and SSE', () => {
  let gateway: Gateway;
  let v1: ClientV1;
  let v2: ClientV2;

  beforeAll(async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'hello.txt'), 'hello from a file');
    const [http, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
    gateway = await startGateway({
      metaTools: true,
      limits: { pageSize: 50 },
      mcpServers: {
        stdio: everythingOverStdio(),
        http: { url: http.url },
        sse: { url: sse.url, type: 'sse' },
        files: filesystem(dir),
        memory: memory(join(dir, 'memory.jsonl')),
      },
    });
    await gateway.listed({
      tools: [...TRANSPORTS, 'files', 'memory'],
      resources: [...TRANSPORTS, 'memory'],
      resourceTemplates: TRANSPORTS,
    });
    [v1, v2] = await Promise.all([connectV1(gateway.url), connectV2(gateway.url)]);
  });

  const clients = (): (ClientV1 | ClientV2)[] => [v1, v2];

  it('are advertised with the listChanged capability', () => {
    expect(v1.getServerCapabilities()).toMatchObject({ resources: { listChanged: true } });
  });

  it.each(TRANSPORTS)('are listed to and read by clients of both SDKs (%s)', async (server) => {
    const prefix = `resource://${server}/demo://resource/static/document/`;
    for (const client of clients()) {
      const uris = (await allUris(client)).filter((uri) => uri.startsWith(prefix));
      expect(uris.length).toBeGreaterThan(3);
      for (const uri of uris) {
        const file = decodeURIComponent(uri.slice(prefix.length));
        const text = readFileSync(join(DOCUMENTS, file), 'utf8');
        expect(await read(client, uri)).toEqual([{ uri, mimeType: 'text/markdown', text }]);
      }
    }
  });

  it.each(TRANSPORTS)(
    'are read through expanded templates, a hundred of them at once (%s)',
    async (server) => {
      for (const client of clients()) {
        const { resourceTemplates } = await client.listResourceTemplates();
        const own = resourceTemplates.filter(({ uriTemplate }) =>
          uriTemplate.startsWith(`resource://${server}/`),
        );
        expect(own.map(({ name }) => name)).toEqual(['Dynamic Blob Resource', 'Dynamic Text Resource']);
        const [blobs, texts] = own.map(({ uriTemplate }) => uriTemplate);
        const numbers = Array.from({ length: MANY / 2 }, (_, index) => String(index + 1));
        const answers = await Promise.all(
          numbers.flatMap((number) =>
            [texts!, blobs!].map((template) => read(client, template.replace('{resourceId}', number))),
          ),
        );
        for (const [index, [content]] of answers.entries()) {
          const number = numbers[Math.floor(index / 2)]!;
          const body = content!.text ?? Buffer.from(content!.blob!, 'base64').toString();
          expect(content!.uri).toBe((index % 2 === 0 ? texts! : blobs!).replace('{resourceId}', number));
          expect(body).toMatch(new RegExp(`^Resource ${number}: This is a (plaintext|base64)`));
        }
      }
    },
  );

  it.each(TRANSPORTS)('complete the variables of their templates (%s)', async (server) => {
    const uri = `resource://${server}/demo://resource/dynamic/text/{resourceId}`;
    for (const client of clients()) {
      const complete = async (value: string): Promise<string[]> =>
        (
          await client.complete({
            ref: { type: 'ref/resource', uri },
            argument: { name: 'resourceId', value },
          })
        ).completion.values;
      expect(await complete('7')).toEqual(['7']);
      expect(await complete('seven')).toEqual([]);
    }
  });

  it.each(TRANSPORTS)(
    'are linked and embedded by tools and prompts under readable public URIs (%s)',
    async (server) => {
      for (const client of clients()) {
        const links = await client.callTool({
          name: `${server}__get-resource-links`,
          arguments: { count: 4 },
        });
        const linked = (links.content as { type: string; uri: string }[]).filter(
          ({ type }) => type === 'resource_link',
        );
        expect(linked).toHaveLength(4);
        for (const { uri } of linked) expect((await read(client, uri))[0]!.uri).toBe(uri);
        const reference = await client.callTool({
          name: `${server}__get-resource-reference`,
          arguments: { resourceType: 'Text', resourceId: 3 },
        });
        const embedded = (reference.content as { resource?: { uri: string } }[]).find(
          ({ resource }) => resource,
        );
        const prompt = await client.getPrompt({
          name: `${server}__resource-prompt`,
          arguments: { resourceType: 'Blob', resourceId: '4' },
        });
        const inPrompt = prompt.messages.map(({ content }) => content as { resource?: { uri: string } });
        for (const resource of [embedded!.resource, inPrompt.find((content) => content.resource)!.resource]) {
          expect(resource!.uri).toContain(`resource://${server}/demo://resource/dynamic/`);
          expect(await read(client, resource!.uri)).toHaveLength(1);
        }
      }
    },
  );

  it('created by a tool call are listed, found and read, also when they exceed one page', async () => {
    const data = `data:text/plain;base64,${Buffer.from('zipped').toString('base64')}`;
    const names = Array.from({ length: MANY }, (_, index) => `made-${String(index).padStart(3, '0')}.gz`);
    const made = await Promise.all(
      names.map((name) => v1.callTool({ name: 'stdio__gzip-file-as-resource', arguments: { name, data } })),
    );
    const links = made.map(({ content }) => (content as { uri: string }[])[0]!.uri);
    expect(links).toEqual(names.map((name) => `resource://stdio/demo://resource/session/${name}`));
    await until('the created resources are listed', async () => {
      const uris = new Set(await allUris(v2));
      return links.every((uri) => uris.has(uri));
    });
    const uris = await allUris(v2);
    expect(uris.length).toBeGreaterThan(MANY + 15);
    expect(uris).toEqual([...new Set(uris)].toSorted());
    for (const uri of links.slice(0, 10)) {
      const [content] = await read(v2, uri);
      expect(gunzipSync(Buffer.from(content!.blob!, 'base64')).toString()).toBe('zipped');
    }
    const search = { name: 'search_resources', arguments: { query: 'made 042' } };
    const found = (await v1.callTool(search)).structuredContent as { resources: { uri: string }[] };
    expect(found.resources[0]!.uri).toBe(links[42]);
  });

  it('contain changes made through tools: the graph of the memory server', async () => {
    const uri = 'resource://memory/memory://knowledge-graph';
    expect(await allUris(v1)).toContain(uri);
    const entities = [{ name: 'Gatehouse', entityType: 'gateway', observations: ['it stands'] }];
    await v1.callTool({ name: 'memory__create_entities', arguments: { entities } });
    for (const client of clients()) {
      const [content] = await read(client, uri);
      expect(content!.uri).toBe(uri);
      expect(JSON.parse(content!.text!)).toMatchObject({ entities });
    }
  });

  it('are empty for a server that has only tools', async () => {
    const uris = await allUris(v1);
    expect(uris.filter((uri) => uri.startsWith('resource://files/'))).toEqual([]);
    const { tools } = await v1.listTools();
    expect(tools.map(({ name }) => name)).toContain('files__read_text_file');
    const unknown = `resource://files/${pathToFileURL('/etc/hostname').href}`;
    await expect(v1.readResource({ uri: unknown })).rejects.toMatchObject({
      code: -32002,
      data: { uri: unknown },
    });
  });
});
