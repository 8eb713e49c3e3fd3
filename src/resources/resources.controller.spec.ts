import { Logger } from '@nestjs/common';
import { Registry as PrometheusRegistry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../test/kit/promises.js';
import { only } from '../../test/kit/offers.js';
import { offerOf, resource, neverYield } from '../../test/kit/resource-offers.js';
import type { BackendCall } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { GatewayError, RemoteError, serverUnavailable } from '../core/errors.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { ResourceList } from '../core/resources/resource-list.js';
import type { ResourceStyle } from '../core/resources/resource-uri.js';
import { EVERYTHING } from '../core/scope.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { SessionListings } from '../backends/session-listings.js';
import { Metrics } from '../metrics/metrics.js';
import { ListPages } from '../registry/list-pages.js';
import { Registry } from '../registry/registry.service.js';
import { ResourcesController } from './resources.controller.js';

/** The controller in front of servers with scripted responses. */
class Harness {
  readonly registry: Registry;
  readonly metrics = new Metrics(new PrometheusRegistry());
  readonly calls: (BackendCall & { readonly server: string })[] = [];
  answer: (call: BackendCall) => string | Error | Promise<string | Error> = () => '{"contents":[]}';
  readonly controller: ResourcesController;

  constructor(resources: ResourceStyle = 'resource') {
    this.registry = new Registry(Object.assign(new Naming(), { resources }));
    const pages = new ListPages(Object.assign(new Limits(), { pageSize: 2 }), new RandomCursorKey());
    this.controller = new ResourcesController(this.registry, this.backends(), pages, this.metrics);
  }

  async put(id: string, uris: (string | [string, object])[], templates: string[] = []): Promise<this> {
    const definitions = uris.map((given) =>
      typeof given === 'string' ? resource(given) : resource(...given),
    );
    const resources = await ResourceList.build(id, definitions, neverYield);
    const listing = { ...UNFETCHED_LISTING, ...(await offerOf(id, [], templates)), resources };
    await this.registry.put({ id, rank: 0, listing, style: 'always', disabledTools: new Set() });
    return this;
  }

  context(params?: string, scope = EVERYTHING): McpContext {
    return { scope, paramsText: params, requestId: 'r7' } as McpContext;
  }

  read(params: string, scope = EVERYTHING): Promise<JsonText> {
    return this.controller.read(JSON.parse(params) as Params, this.context(params, scope));
  }

  async readCounts(): Promise<string[]> {
    const lines = (await this.metrics.text()).split('\n');
    return lines.filter((line) => line.startsWith('mcp_resource_reads_total{')).toSorted();
  }

  private backends(): Backends {
    const get = (server: string): unknown => ({
      call: async (call: BackendCall): Promise<JsonText> => {
        this.calls.push({ ...call, server });
        const answer = await this.answer(call);
        if (answer instanceof Error) throw answer;
        return new JsonText(answer);
      },
    });
    const sessionListings = new SessionListings(this.registry);
    return { get, requireListed: () => undefined, sessionListings } as unknown as Backends;
  }
}

beforeEach(() => {
  Logger.overrideLogger(false);
});
afterEach(() => Logger.overrideLogger(false));

describe('resources/read', () => {
  it.each(['x:1', 'resource://fs/x:1', 'fs_x___1'])('forwards %s with its own URI', async (uri) => {
    const harness = await new Harness().put('fs', ['x:1']);
    const context = harness.context(JSON.stringify({ uri }));
    await harness.controller.read({ uri }, context);
    expect(harness.calls).toEqual([
      { server: 'fs', method: 'resources/read', params: '{"uri":"x:1"}', caller: context },
    ]);
  });

  it('keeps all other params as the client wrote them', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    await harness.read(
      '{ "_meta":{"progressToken":1.0,"uri":"x"}, "uri" : "resource://fs/x:1" ,"big":12345678901234567890}',
    );
    expect(harness.calls[0]!.params).toBe(
      '{ "_meta":{"progressToken":1.0,"uri":"x"}, "uri" : "x:1" ,"big":12345678901234567890}',
    );
  });

  it('forwards the values of template variables', async () => {
    const harness = await new Harness().put('db', [], ['mcp://db/{table}/{id}']);
    for (const uri of ['resource://db/mcp://db/a%20b/5', 'db_mcp___db_a%20b_5', 'mcp://db/a%20b/5'])
      await harness.read(JSON.stringify({ uri }));
    expect(harness.calls.map(({ params }) => params)).toEqual(Array(3).fill('{"uri":"mcp://db/a%20b/5"}'));
  });

  it.each([
    ['resource', 'resource://fs/x:1', 'resource://fs/x:2/part'],
    ['underscore', 'fs_x___1', 'resource://fs/x:2/part'],
    ['original', 'x:1', 'resource://fs/x:2/part'],
  ] as const)('returns public URIs, in style %s', async (style, one, other) => {
    const harness = await new Harness(style).put('fs', ['x:1']);
    harness.answer = () =>
      '{ "contents" : [{"uri":"x:1","text":"\\u0041 x:1","n":1.0},{"blob":"AA==","uri":"x:2/part"}],"x":null}';
    expect((await harness.read('{"uri":"x:1"}')).text).toBe(
      `{ "contents" : [{"uri":"${one}","text":"\\u0041 x:1","n":1.0},{"blob":"AA==","uri":"${other}"}],"x":null}`,
    );
  });

  it('rewrites URIs with the catalog at the time of the response', async () => {
    const harness = await new Harness('original').put('fs', ['x:1']);
    harness.answer = async () => {
      await harness.put('other', ['x:1']);
      return '{"contents":[{"uri":"x:1"}]}';
    };
    expect((await harness.read('{"uri":"x:1"}')).text).toBe('{"contents":[{"uri":"resource://fs/x:1"}]}');
  });

  it.each(['x:2', 'resource://fs/x:2', 'resource://other/x:1', ''])(
    'refuses the unknown URI %j without a call to a server',
    async (uri) => {
      const harness = await new Harness().put('fs', ['x:1'], ['y:{z}']);
      const error = JsonRpcError.from(await refusalOf(harness.read(JSON.stringify({ uri }))));
      expect(JSON.parse(error.text)).toEqual({
        code: -32002,
        message: `RESOURCE_NOT_FOUND: resource ${uri} is not available`,
        data: { uri },
      });
      expect(harness.calls).toEqual([]);
      expect(await harness.readCounts()).toEqual([]);
    },
  );

  it('refuses URIs out of scope', async () => {
    const harness = await new Harness().put('fs', ['x:1'], ['y:{z}']);
    for (const uri of ['x:1', 'resource://fs/x:1', 'fs_x___1', 'y:1', 'resource://fs/y:1'])
      expect(await refusalOf(harness.read(JSON.stringify({ uri }), only('other')))).toMatchObject({
        kind: 'resource-not-found',
      });
    expect(harness.calls).toEqual([]);
  });

  it.each(['{}', '{"uri":7}', `{"uri":"${'x'.repeat(8193)}"}`, '{"uri":"x:1","URI":"y:1"}'])(
    'refuses invalid params without a call to a server: %.40s',
    async (params) => {
      const harness = await new Harness().put('fs', ['x:1']);
      expect(await refusalOf(harness.read(params))).toMatchObject({ kind: 'invalid-params' });
      expect(harness.calls).toEqual([]);
    },
  );
});

describe('a failed read', () => {
  it('passes on the error of the server unchanged', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    const error = new RemoteError(-32050, 'locked', '{"code":-32050,"message":"locked","data":{"n":1.0}}');
    harness.answer = () => error;
    expect(await refusalOf(harness.read('{"uri":"x:1"}'))).toBe(error);
    expect(JsonRpcError.from(error).text).toBe('{"code":-32050,"message":"locked","data":{"n":1.0}}');
  });

  it('leaves the server in the context, for the log', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    harness.answer = () => new RemoteError(-32050, 'locked', '{}');
    const context = harness.context('{"uri":"x:1"}');
    await refusalOf(harness.controller.read({ uri: 'x:1' }, context));
    expect(context.server).toBe('fs');
  });

  it('is counted as cancelled when the client cancelled it', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    harness.answer = () => new GatewayError('cancelled', 'cancelled');
    await refusalOf(harness.read('{"uri":"x:1"}'));
    expect(await harness.readCounts()).toEqual([
      'mcp_resource_reads_total{server_id="fs",mime_type="_none",outcome="cancelled"} 1',
    ]);
  });
});

describe('mcp_resource_reads_total', () => {
  it('has server, MIME type and outcome as labels', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    const answers: (string | Error)[] = [
      '{"contents":[{"uri":"x:1","mimeType":"text/plain; charset=utf-8"}]}',
      '{"contents":[{"uri":"x:1","mimeType":"TEXT/plain"}]}',
      '{"contents":[]}',
      new RemoteError(-1, 'no', '{}'),
      serverUnavailable('fs', 'down'),
      new GatewayError('timeout', 'late'),
    ];
    for (const answer of answers) {
      harness.answer = () => answer;
      await harness.read('{"uri":"x:1"}').catch(() => {});
    }
    expect(await harness.readCounts()).toEqual([
      'mcp_resource_reads_total{server_id="fs",mime_type="_none",outcome="error"} 1',
      'mcp_resource_reads_total{server_id="fs",mime_type="_none",outcome="ok"} 1',
      'mcp_resource_reads_total{server_id="fs",mime_type="_none",outcome="timeout"} 1',
      'mcp_resource_reads_total{server_id="fs",mime_type="_none",outcome="unavailable"} 1',
      'mcp_resource_reads_total{server_id="fs",mime_type="text/plain",outcome="ok"} 2',
    ]);
  });

  it('uses the listed MIME type if the read has none or fails', async () => {
    const harness = await new Harness().put('fs', [['x:1', { mimeType: 'text/x-listed' }]]);
    for (const answer of ['{"contents":[{"uri":"x:1"}]}', new RemoteError(-1, 'no', '{}')]) {
      harness.answer = () => answer;
      await harness.read('{"uri":"x:1"}').catch(() => {});
    }
    expect(await harness.readCounts()).toEqual([
      'mcp_resource_reads_total{server_id="fs",mime_type="text/x-listed",outcome="error"} 1',
      'mcp_resource_reads_total{server_id="fs",mime_type="text/x-listed",outcome="ok"} 1',
    ]);
  });

  it('limits the number of MIME types', async () => {
    const harness = await new Harness().put('fs', ['x:1']);
    for (let n = 0; n < 200; n++) {
      harness.answer = () => `{"contents":[{"uri":"x:1","mimeType":"made/up${n}"}]}`;
      await harness.read('{"uri":"x:1"}');
    }
    const reads = await harness.readCounts();
    expect(reads.length).toBeLessThan(100);
    expect(reads).toContainEqual(expect.stringContaining('mime_type="_other"'));
  });
});

const page = async (list: JsonText | Promise<JsonText>) =>
  JSON.parse((await list).text) as Record<string, unknown>;

describe('resource lists', () => {
  it('are paged and answered without a call to a server', async () => {
    const harness = await new Harness().put('fs', ['x:1', 'x:2', 'x:3'], ['x:{a}', 'y:{a}', 'z:{a}']);
    const { controller } = harness;
    const first = await page(controller.list(undefined, harness.context()));
    expect(first['resources']).toMatchObject([{ uri: 'resource://fs/x:1' }, { uri: 'resource://fs/x:2' }]);
    expect(await page(controller.list({ cursor: first['nextCursor'] }, harness.context()))).toEqual({
      resources: [expect.objectContaining({ uri: 'resource://fs/x:3' })],
    });
    const templates = await page(controller.listTemplates({}, harness.context()));
    expect(templates['resourceTemplates']).toMatchObject([
      { name: 'any of x:{a}' },
      { name: 'any of y:{a}' },
    ]);
    expect(
      await page(controller.listTemplates({ cursor: templates['nextCursor'] }, harness.context())),
    ).toEqual({
      resourceTemplates: [expect.objectContaining({ uriTemplate: 'resource://fs/z:{a}' })],
    });
    expect(harness.calls).toEqual([]);
  });

  it('contain only servers in scope', async () => {
    const harness = await new Harness().put('fs', ['x:1'], ['x:{a}']);
    expect(await page(harness.controller.list({}, harness.context(undefined, only('b'))))).toEqual({
      resources: [],
    });
    expect(await page(harness.controller.listTemplates({}, harness.context(undefined, only('b'))))).toEqual({
      resourceTemplates: [],
    });
  });

  it.each(['', 'x', 7, null])('refuse the cursor %j', async (cursor) => {
    const harness = await new Harness().put('fs', ['x:1']);
    const refused = expect.objectContaining({ kind: 'invalid-params' });
    expect(() => harness.controller.list({ cursor }, harness.context())).toThrow(refused);
    expect(() => harness.controller.listTemplates({ cursor }, harness.context())).toThrow(refused);
  });
});
