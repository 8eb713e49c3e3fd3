import { describe, expect, it } from '@jest/globals';
import { only } from '../../test/kit/offers.js';
import { offerOf } from '../../test/kit/resource-offers.js';
import type { BackendCall } from '../backends/backend.js';
import type { Backends } from '../backends/backends.service.js';
import { Naming } from '../config/naming.js';
import { UNFETCHED_LISTING } from '../core/catalog/catalog.js';
import { JsonText } from '../lib/json-text/json-text.js';
import { EVERYTHING } from '../core/scope.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { Registry } from '../registry/registry.service.js';
import { CompletionController } from './completion.controller.js';

const RESULT = new JsonText('{"completion":{"values":["a"],"n":1.0}}');

/** `updateScopeWhenListed` stands for the wait until the session has its own listings. */
async function createHarness(updateScopeWhenListed?: (registry: Registry) => Promise<void> | undefined) {
  const calls: (BackendCall & { readonly server: string })[] = [];
  const get = (server: string): unknown => ({
    call: (call: BackendCall) => {
      calls.push({ ...call, server });
      return Promise.resolve(RESULT);
    },
  });
  const registry = new Registry(new Naming());
  const { resources, templates } = await offerOf('db', ['x:1'], ['mcp://db/{table}/{id}']);
  const prompts = [{ name: 'greet', text: '{"name":"greet"}' }];
  const listing = { ...UNFETCHED_LISTING, resources, templates, prompts };
  await registry.put({ id: 'db', rank: 0, listing, style: 'always', disabledTools: new Set() });
  const sessionListings = { updateScopeWhenListed: () => updateScopeWhenListed?.(registry) };
  const backends = { get, requireListed: () => undefined, sessionListings } as unknown as Backends;
  const controller = new CompletionController(registry, backends);
  const complete = (paramsText: string, scope = EVERYTHING): Promise<JsonText> =>
    controller.complete(JSON.parse(paramsText) as Params, { scope, paramsText } as McpContext);
  return { calls, complete };
}

async function listOwn(registry: Registry): Promise<void> {
  const { resources, templates } = await offerOf('own', [], ['o:{id}']);
  const listing = {
    ...UNFETCHED_LISTING,
    resources,
    templates,
    prompts: [{ name: 'hello', text: '{"name":"hello"}' }],
  };
  await registry.put({ id: 'own', rank: 1, listing, style: 'always', disabledTools: new Set() });
}

const withRef = (ref: object | string): string =>
  `{ "argument":{"name":"id","value":"1.0"}, "ref":${typeof ref === 'string' ? ref : JSON.stringify(ref)} ,"context":{"arguments":{"n":1.0}}}`;

describe('completion/complete', () => {
  it.each(['db__greet', 'greet'])('forwards a prompt %s under its own name', async (name) => {
    const { calls, complete } = await createHarness();
    expect(await complete(withRef({ type: 'ref/prompt', name }))).toBe(RESULT);
    expect(calls).toMatchObject([
      {
        server: 'db',
        method: 'completion/complete',
        params: withRef('{"type":"ref/prompt","name":"greet"}'),
      },
    ]);
  });

  it.each([
    ['resource://db/mcp://db/{table}/{id}', 'mcp://db/{table}/{id}'],
    ['db_mcp___db_{table}_{id}', 'mcp://db/{table}/{id}'],
    ['mcp://db/{table}/{id}', 'mcp://db/{table}/{id}'],
    ['resource://db/mcp://db/users/5', 'mcp://db/users/5'],
    ['resource://db/x:1', 'x:1'],
  ])('forwards a template or resource %s under its own URI', async (uri, own) => {
    const { calls, complete } = await createHarness();
    await complete(withRef({ type: 'ref/resource', uri }));
    expect(calls.map(({ server, params }) => [server, params])).toEqual([
      ['db', withRef({ type: 'ref/resource', uri: own })],
    ]);
  });

  it.each([
    ['{}', 'ref must be an object'],
    ['{"ref":null}', 'ref must be an object'],
    ['{"ref":"greet"}', 'ref must be an object'],
    ['{"ref":{}}', 'ref.type must be ref/prompt or ref/resource'],
    ['{"ref":{"type":"ref/tool","name":"x"}}', 'ref.type must be ref/prompt or ref/resource'],
    ['{"ref":{"type":"ref/prompt"}}', 'name must be a string'],
    ['{"ref":{"type":"ref/prompt","name":"none"}}', 'Unknown prompt: none'],
    ['{"ref":{"type":"ref/resource","uri":7}}', 'uri must be a string'],
    ['{"ref":{"type":"ref/resource","uri":"y:1"}}', 'RESOURCE_NOT_FOUND: resource y:1 is not available'],
    ['{"ref":{"type":"ref/resource","uri":"x:1","Uri":"y:1"}}', '"Uri" is too similar to uri'],
  ])('refuses %s with -32602 without a call to a server', async (params, message) => {
    const { calls, complete } = await createHarness();
    const error = JsonRpcError.from(await errorOf(() => complete(params)));
    expect(JSON.parse(error.text)).toMatchObject({ code: -32602, message });
    expect(calls).toEqual([]);
  });

  it.each([
    [
      { type: 'ref/prompt', name: 'own__hello' },
      { type: 'ref/prompt', name: 'hello' },
    ],
    [
      { type: 'ref/resource', uri: 'resource://own/o:{id}' },
      { type: 'ref/resource', uri: 'o:{id}' },
    ],
  ])('waits for the listings of the session to find %j', async (ref, own) => {
    let waits = 0;
    const { calls, complete } = await createHarness((registry) =>
      waits++ === 0 ? listOwn(registry) : undefined,
    );
    await complete(withRef(ref));
    expect(calls).toMatchObject([{ server: 'own', params: withRef(own) }]);
  });

  it('refuses references out of scope', async () => {
    const { complete } = await createHarness();
    for (const ref of [
      { type: 'ref/prompt', name: 'greet' },
      { type: 'ref/resource', uri: 'resource://db/x:1' },
      { type: 'ref/resource', uri: 'mcp://db/{table}/{id}' },
    ])
      expect(JsonRpcError.from(await errorOf(() => complete(withRef(ref), only('fs')))).code).toBe(-32602);
  });

  it('rewrites the ref that is an object if ref is given twice', async () => {
    const { calls, complete } = await createHarness();
    await complete('{"ref":7,"ref":{"type":"ref/prompt","name":"db__greet"}}');
    expect(calls[0]!.params).toBe('{"ref":7,"ref":{"type":"ref/prompt","name":"greet"}}');
  });
});

async function errorOf(act: () => Promise<unknown>): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error('it was not refused');
}
