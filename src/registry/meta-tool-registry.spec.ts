import { describe, expect, it } from '@jest/globals';
import { listOf, only } from '../../test/kit/offers.js';
import { Naming } from '../config/naming.js';
import { JsonText } from '../lib/json-text/json-text.js';
import type { McpContext } from '../mcp/mcp-context.js';
import type { Params } from '../mcp/json-rpc.js';
import { MetaToolRegistry, type MetaTool } from './meta-tool-registry.js';
import { Registry } from './registry.service.js';

const tool = (name: string): MetaTool => ({
  name,
  definition: { name, title: `The ${name}` },
  call: (args: Params) => JsonText.of({ name, args }),
});

const registry = new Registry(new Naming());
const tools = new MetaToolRegistry(registry);
await tools.register([tool('one')]);
await tools.register([tool('two')]);
const context = {} as McpContext;

describe('MetaToolRegistry', () => {
  it('lists all registered tools in every scope', () => {
    expect(JSON.parse(listOf(registry.catalog.tools, only()))).toEqual({
      tools: ['one', 'two'].map((name) => ({
        name,
        title: `The ${name}`,
        _meta: { 'io.gatehouse/server': 'gatehouse', 'io.gatehouse/name': name },
      })),
    });
  });

  it.each([
    [undefined, {}],
    [null, {}],
    [{ a: 1 }, { a: 1 }],
    ['text', 'text'],
  ])('calls a tool with %j', async (given, args) => {
    expect(await tools.call('two', given, context)).toEqual(JsonText.of({ name: 'two', args }));
  });

  it('refuses an unknown tool', () => {
    expect(() => tools.call('three', {}, context)).toThrow(
      expect.objectContaining({ kind: 'tool-not-found', message: 'Unknown tool: three' }),
    );
  });
});
