import { ResourceNotFoundError } from '@modelcontextprotocol/client';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { SUPPORTED_VERSIONS } from '../../src/mcp/revisions/revision.js';
import { startGateway, type Gateway } from '../kit/gateway.js';
import { exchange } from '../kit/http.js';
import { RawSession } from '../kit/raw-session.js';
import { Scrape } from '../kit/scrape.js';
import { connectV1, connectV2 } from '../kit/sdk-clients.js';
import { ScriptedServer, ScriptedError, text } from '../kit/scripted-server/scripted-server.js';
import { contents } from '../kit/scripted-server/scripted-resources.js';
import { until, within } from '../kit/until.js';

/** Far below the timeouts of these servers, far above the delays of a busy machine. */
const SOON_MS = 10_000;

const OWN_ERROR = '{"code":-32050,"message":"disk \\u00e9 is gone","data":{"cause":"x","n":1.0},"more":1.0}';

/** URIs and the error that a read of each returns in every protocol revision. */
const OUTCOMES: readonly (readonly [string, object])[] = [
  [
    'resource://well/x://nowhere',
    {
      code: -32002,
      message: 'RESOURCE_NOT_FOUND: resource resource://well/x://nowhere is not available',
      data: { uri: 'resource://well/x://nowhere' },
    },
  ],
  [
    'x://\u{1F600} "quoted" \\',
    {
      code: -32002,
      message: 'RESOURCE_NOT_FOUND: resource x://\u{1F600} "quoted" \\ is not available',
      data: { uri: 'x://\u{1F600} "quoted" \\' },
    },
  ],
  ['', { code: -32002, message: 'RESOURCE_NOT_FOUND: resource  is not available', data: { uri: '' } }],
  ['resource://well/x://broken', JSON.parse(OWN_ERROR) as object],
  [
    'resource://well/x://gone',
    { code: -32002, message: 'Resource not found', data: { uri: 'resource://well/x://gone' } },
  ],
  [
    'resource://well/x://slow',
    { code: -31008, message: expect.any(String), data: { code: 'TIMEOUT', server: 'well' } },
  ],
  [
    'resource://away/x://there',
    {
      code: -31003,
      message: expect.stringContaining('SERVER_UNAVAILABLE: server away is not available'),
      data: {
        code: 'SERVER_UNAVAILABLE',
        server: 'away',
        reason: 'unreachable',
        retryAfterMs: expect.any(Number),
      },
    },
  ],
];

const scrapeOf = async (gateway: Gateway): Promise<Scrape> =>
  new Scrape((await exchange(gateway.urlOf('/metrics'))).text);

/** Label values of the metric with the legacy name. */
const STATUS = { ok: 'success', error: 'failure', timeout: 'failure' };
const readsOfWell = (scrape: Scrape, mime: string, outcome: keyof typeof STATUS): number[] => [
  scrape.value('mcp_resource_reads_total', { server_id: 'well', mime_type: mime, outcome }) ?? 0,
  scrape.value('mcpResourceReadsTotal', { serverId: 'well', mimeType: mime, status: STATUS[outcome] }) ?? 0,
];

describe('a failed resource read', () => {
  const scriptedServers = {} as Record<'well' | 'away' | 'mute' | 'failing' | 'hostile', ScriptedServer>;
  let gateway: Gateway;
  let session: RawSession;

  beforeAll(async () => {
    for (const id of ['well', 'away', 'mute', 'failing', 'hostile'] as const)
      scriptedServers[id] = (await ScriptedServer.start()).tool('echo', () => text(id));
    const { well, away, mute, failing, hostile } = scriptedServers;
    well
      .resource('x://fine')
      .resource('x://broken', () => {
        throw new ScriptedError(OWN_ERROR);
      })
      .resource('x://gone', () => {
        throw new ScriptedError('{"code":-32002,"message":"Resource not found","data":{"uri":"x://gone"}}');
      })
      .resource('x://slow', () => undefined);
    away.resource('x://there').template('x://any/{a}');
    mute
      .resource('x://unlisted')
      .template('m://{a}')
      .on('resources/list', () => undefined);
    failing.resource('x://unlisted').on('resources/list', () => {
      throw new ScriptedError('{"code":-32603,"message":"list unavailable"}');
    });
    hostile
      .template(`h://${'{a}'.repeat(2000)}`)
      .template(`h://${'{a}'.repeat(50_000)}`)
      .template('h://{{a}}')
      .template('h://{a')
      .template('h://a}')
      .template('h://{}')
      .template(`h://{${'a,'.repeat(2000)}a}`)
      .template(`h://${'x'.repeat(9000)}/{a}`)
      .template('good://{a}/{b}')
      .resource('good://listed');
    gateway = await startGateway({
      mcpServers: {
        well: { ...well.http, timeoutMs: 1000 },
        away: away.http,
        mute: mute.http,
        failing: failing.stdio(),
        hostile: hostile.http,
      },
    });
    await gateway.listed({
      tools: ['well', 'away', 'mute', 'failing', 'hostile'],
      resources: ['well', 'away', 'hostile'],
      resourceTemplates: ['away', 'mute', 'hostile'],
    });
    session = await RawSession.open(gateway.url);
  });

  const readRequests = (): number =>
    Object.values(scriptedServers).reduce((sum, scripted) => sum + scripted.countOf('resources/read'), 0);

  it('of a server whose resources/list hangs or fails affects neither its tools nor other servers', async () => {
    const resources = await within('the list', session.list('resources'), SOON_MS);
    const servers = new Set(resources.map(({ _meta }) => _meta?.['io.gatehouse/server']));
    expect([...servers]).toEqual(['away', 'hostile', 'well']);
    for (const server of ['mute', 'failing'])
      expect((await within('the call', session.callTool(`${server}__echo`), SOON_MS)).result).toEqual(
        text(server),
      );
    const { result } = await within('the read', session.read('resource://mute/m://1'), SOON_MS);
    expect(result).toEqual(contents('resource://mute/m://1', 'read m://1'));
    const warning = { level: 'warn', message: 'resources/list failed', server: 'failing' };
    expect(await gateway.logged(warning)).toMatchObject({
      cause: expect.stringContaining('list unavailable'),
    });
  });

  it('is not caused by invalid templates of the same server, which are dropped with a warning', async () => {
    const templates = await session.list('resourceTemplates');
    const ofHostile = templates.filter(({ _meta }) => _meta?.['io.gatehouse/server'] === 'hostile');
    expect(ofHostile.map(({ uriTemplate }) => uriTemplate)).toEqual(['resource://hostile/good://{a}/{b}']);
    const { uriTemplates } = await gateway.logged({ level: 'warn', server: 'hostile', count: 6 });
    expect(uriTemplates).toContain('h://{{a}}');
    for (const uriTemplate of uriTemplates as string[]) expect(uriTemplate.length).toBeLessThanOrEqual(200);
    await gateway.logged({ level: 'warn', server: 'hostile', leftOut: 2 });
    expect((await session.read('good://1/2')).result).toEqual(
      contents('resource://hostile/good://1/2', 'read good://1/2'),
    );
    expect((await session.read('resource://hostile/good://listed')).result).toBeDefined();
  });

  it.each<[string, object]>([
    ['a missing URI', {}],
    ['a number as URI', { uri: 7 }],
    ['null as URI', { uri: null }],
    ['an object as URI', { uri: { a: 1 } }],
    ['a URI of more than 8 KB', { uri: `resource://well/x://${'a'.repeat(8192)}` }],
  ])('for %s is -32602, and no server gets a request', async (_case, params) => {
    const before = readRequests();
    const { error } = await session.request('resources/read', params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('uri') });
    const ref = { type: 'ref/resource', ...params };
    const completion = await session.request('completion/complete', {
      ref,
      argument: { name: 'a', value: '' },
    });
    expect(completion.error).toMatchObject({ code: -32602 });
    expect(readRequests()).toBe(before);
  });

  it('is not caused by a URI of the maximum length', async () => {
    const long = `resource://mute/m://${'a'.repeat(8192)}`.slice(0, 8192);
    expect((await session.read(long)).result).toEqual(contents(long, `read ${long.slice(16)}`));
  });

  it.each([
    'resource://',
    'resource:///x://fine',
    'resource://well',
    'resource://well/',
    'resource://unknown/x://fine',
    'resource://well/resource://well/x://fine',
    'ui://well/x://fine',
    'well_x___nowhere',
    'x://FINE',
    '__proto__',
    'constructor',
  ])('of an unknown URI is -32002 with that URI, and no server gets a request (%s)', async (uri) => {
    const before = readRequests();
    expect((await session.read(uri)).error).toEqual({
      code: -32002,
      message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
      data: { uri },
    });
    expect(readRequests()).toBe(before);
  });

  it('is an error that clients of both SDKs recognise', async () => {
    const uri = 'resource://well/x://nowhere';
    const [v1, v2] = [await connectV1(gateway.url), await connectV2(gateway.url)];
    const first: unknown = await v1.readResource({ uri }).catch((error: unknown) => error);
    expect(first).toBeInstanceOf(McpError);
    expect(first).toMatchObject({ code: -32002, data: { uri } });
    expect(ErrorCode.InvalidParams).not.toBe(-32002);
    const second: unknown = await v2.readResource({ uri }).catch((error: unknown) => error);
    expect(second).toBeInstanceOf(ResourceNotFoundError);
    expect(second).toMatchObject({ uri });
  });

  it('returns the error of the server byte for byte and is logged', async () => {
    const from = gateway.logs.length;
    const { text: answer } = await session.read('resource://well/x://broken', 'the-id');
    expect(answer).toBe(`{"jsonrpc":"2.0","id":"the-id","error":${OWN_ERROR}}`);
    const uri = 'resource://well/x://broken';
    const entry = await gateway.logged({ message: 'request failed', server: 'well', uri }, from);
    expect(entry).toMatchObject({
      level: 'info',
      requestId: 'the-id',
      session: expect.stringMatching(/^[0-9a-f]{16}$/),
      principal: 'anonymous',
      client: 'raw 1',
      code: JSON.parse(OWN_ERROR).code,
      reason: expect.stringContaining('disk é is gone'),
    });
  });

  it('is counted by server, type and outcome, under both metric names', async () => {
    const cases = [
      ['x://fine', 'text/plain', 'ok'],
      ['x://broken', '_none', 'error'],
      ['x://slow', '_none', 'timeout'],
    ] as const;
    for (const [own, mime, outcome] of cases) {
      const before = readsOfWell(await scrapeOf(gateway), mime, outcome);
      await session.read(`resource://well/${own}`);
      expect([own, readsOfWell(await scrapeOf(gateway), mime, outcome)]).toEqual([
        own,
        before.map((value) => value + 1),
      ]);
    }
  });

  it('has at most 50 types as label values, all others are counted as _other', async () => {
    const { well } = scriptedServers;
    for (let index = 0; index < 60; index++) {
      const mimeType = `application/x-${index};charset=utf-8`;
      well.resource(`x://type/${index}`, () => ({
        contents: [{ uri: `x://type/${index}`, mimeType, text: '' }],
      }));
    }
    well.resource('x://type/odd', () => ({
      contents: [{ uri: 'x://type/odd', mimeType: `a"} 1\n${'z'.repeat(999)}`, text: '' }],
    }));
    well.broadcast('notifications/resources/list_changed');
    await until(
      'the new resources are listed',
      async () => (await session.read('x://type/odd')).result !== undefined,
    );
    for (let index = 0; index < 60; index++) await session.read(`resource://well/x://type/${index}`);
    const scrape = await scrapeOf(gateway);
    const types = scrape.seriesOf('mcp_resource_reads_total').map(({ mime_type }) => mime_type!);
    const named = new Set(types.filter((type) => !type.startsWith('_')));
    expect(named.size).toBe(50);
    expect(named).toContain('application/x-0');
    expect(types).toContain('_other');
    expect(types.filter((type) => type.length > 127)).toEqual([]);
  });

  describe('of an unavailable server', () => {
    beforeAll(async () => {
      await scriptedServers.away.goDown();
      await until('the gateway noticed', async () => (await session.read('resource://away/x://there')).error);
    });

    it('is immediate, and its resources stay listed', async () => {
      const uris = (await session.list('resources')).map(({ uri }) => uri);
      expect(uris).toContain('resource://away/x://there');
      const templates = (await session.list('resourceTemplates')).map(({ uriTemplate }) => uriTemplate);
      expect(templates).toContain('resource://away/x://any/{a}');
      for (const uri of ['resource://away/x://there', 'x://any/7']) {
        const { error } = await within('the error', session.read(uri), SOON_MS);
        expect(error).toMatchObject({ code: -31003, data: { code: 'SERVER_UNAVAILABLE', server: 'away' } });
      }
    });

    it.each(SUPPORTED_VERSIONS)(
      'and every other failure returns the same error in revision %s',
      async (protocolVersion) => {
        const client = await RawSession.open(gateway.url, { protocolVersion });
        expect(client.initializeResult['protocolVersion']).toBe(protocolVersion);
        for (const [uri, expected] of OUTCOMES)
          expect([uri, (await client.read(uri)).error]).toEqual([uri, expected]);
        for (const method of ['resources/list', 'resources/templates/list'])
          expect((await client.request(method, { cursor: 'invalid' })).error).toMatchObject({
            code: -32602,
          });
        const tooLong = await client.read('x'.repeat(8193));
        expect(tooLong.error).toMatchObject({ code: -32602 });
      },
    );

    it('ends when the server is available again', async () => {
      await scriptedServers.away.goUp();
      const uri = 'resource://away/x://there';
      const result = await until('the resource is read again', async () => (await session.read(uri)).result);
      expect(result).toEqual(contents(uri, 'read x://there'));
    });
  });
});
