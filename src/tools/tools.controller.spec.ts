import { Registry as PrometheusRegistry } from 'prom-client';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { definition } from '../../test/kit/offers.js';
import { refusalOf } from '../../test/kit/promises.js';
import type { BackendCall } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import { headersRefused, toCallError } from '../backends/link/link-errors.js';
import { SessionListings } from '../backends/session-listings.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { RemoteError, serverUnavailable } from '../core/errors.js';
import { EVERYTHING } from '../core/scope.js';
import { JsonText } from '../lib/json-text/json-text.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { ParamHeader } from '../mcp/param-headers.js';
import { LATEST_REVISION } from '../mcp/revisions/revision.js';
import { Metrics } from '../metrics/metrics.js';
import { ListPages } from '../registry/list-pages.js';
import { MetaToolRegistry } from '../registry/meta-tool-registry.js';
import { Registry } from '../registry/registry.service.js';
import { RandomCursorKey } from '../state/random-cursor-key.js';
import { ToolsController } from './tools.controller.js';

const refusal = (server: string): unknown =>
  toCallError(server, headersRefused(new RemoteError(-32020, 'no', '{"code":-32020,"message":"no"}')));

/** The controller in front of servers with scripted answers. Names have no prefix. */
class Harness {
  readonly registry = new Registry(new Naming());
  readonly metrics = new Metrics(new PrometheusRegistry());
  readonly calls: (BackendCall & { readonly server: string })[] = [];
  readonly controller: ToolsController;
  /** The outcomes of the calls, in order. Further calls succeed. */
  outcomes: unknown[] = [];
  relist: () => Promise<void> = () => Promise.resolve();

  constructor() {
    const { registry, metrics } = this;
    const pages = new ListPages(new Limits(), new RandomCursorKey());
    const backend = (server: string): unknown => ({
      config: { tools: { exclusive: [] } },
      call: (call: BackendCall) => this.answer({ ...call, server }),
      refetchTools: () => this.relist(),
    });
    const sessionListings = new SessionListings(registry);
    const backends = { get: backend, find: backend, requireListed: () => undefined, sessionListings };
    this.controller = new ToolsController(
      registry,
      backends as unknown as Backends,
      pages,
      metrics,
      new MetaToolRegistry(registry),
    );
  }

  async put(id: string, tools: Readonly<Record<string, readonly ParamHeader[]>>): Promise<void> {
    const definitions = Object.entries(tools).map(([name, paramHeaders]) => ({
      ...definition(name, `,"title":${JSON.stringify(paramHeaders[0]?.name ?? '')}`),
      paramHeaders,
    }));
    const listing = { ...UNFETCHED_LISTING, tools: definitions };
    const rank = id.charCodeAt(0);
    await this.registry.put({ id, rank, listing, style: 'never', disabledTools: new Set() });
  }

  async call(name: string): Promise<string> {
    const context = {
      scope: EVERYTHING,
      paramsText: JSON.stringify({ name }),
      requestId: 1,
      revision: LATEST_REVISION,
    } as McpContext;
    return (await this.controller.call({ name }, context)).text;
  }

  get called(): unknown[] {
    return this.calls.map(({ server, target, paramHeaders }) => [server, target, paramHeaders]);
  }

  async counts(): Promise<string[]> {
    const lines = (await this.metrics.text()).split('\n');
    return lines.filter((line) => line.startsWith('mcp_tool_calls_total{')).toSorted();
  }

  private answer(call: BackendCall & { readonly server: string }): Promise<JsonText> {
    this.calls.push(call);
    const outcome = this.outcomes.shift();
    return outcome === undefined ? Promise.resolve(new JsonText('{"content":[]}')) : Promise.reject(outcome);
  }
}

describe('a call whose headers the server refuses', () => {
  const before: readonly ParamHeader[] = [{ name: 'Before', path: ['x'] }];
  const after: readonly ParamHeader[] = [{ name: 'After', path: ['x'] }];
  let harness: Harness;

  beforeEach(async () => {
    harness = new Harness();
    await harness.put('a', { x: before });
    harness.outcomes = [refusal('a')];
    harness.relist = () => harness.put('a', { x: after });
  });

  it('is repeated with the headers of the new list, and counts once', async () => {
    expect(await harness.call('x')).toBe('{"content":[]}');
    expect(harness.called).toEqual([
      ['a', 'x', before],
      ['a', 'x', after],
    ]);
    expect(await harness.counts()).toEqual(['mcp_tool_calls_total{server_id="a",outcome="ok"} 1']);
  });

  it('fails when it is refused again', async () => {
    harness.outcomes.push(refusal('a'));
    expect(await refusalOf(harness.call('x'))).toMatchObject({
      kind: 'server-unavailable',
      data: { server: 'a', reason: 'refused' },
    });
    expect(harness.calls).toHaveLength(2);
    expect(await harness.counts()).toEqual(['mcp_tool_calls_total{server_id="a",outcome="unavailable"} 1']);
  });

  it.each([
    ['by no server', {}],
    ['by another server', { x: before }],
  ])('is not repeated when its name is now listed %s', async (_by, tools) => {
    harness.relist = async () => {
      await harness.put('a', {});
      await harness.put('b', tools);
    };
    expect(await refusalOf(harness.call('x'))).toMatchObject({ data: { server: 'a', reason: 'refused' } });
    expect(harness.calls).toHaveLength(1);
  });

  it.each([
    ['the server is not available', serverUnavailable('a', 'it is down')],
    ['the server answers with that code', new RemoteError(-32020, 'no', '{"code":-32020,"message":"no"}')],
  ])('is not what a call is for which %s', async (_what, error) => {
    harness.outcomes = [error];
    expect(await refusalOf(harness.call('x'))).toMatchObject({ message: error.message });
    expect(harness.calls).toHaveLength(1);
  });
});
