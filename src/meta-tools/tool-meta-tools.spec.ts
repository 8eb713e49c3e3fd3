import { beforeAll, describe, expect, it } from '@jest/globals';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { recordLog } from '../../test/kit/log-lines.js';
import { only } from '../../test/kit/offers.js';

const READ = {
  name: 'read_file',
  title: 'Read a file',
  description: 'Reads a file whole',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
};

const harness = new MetaToolHarness();
beforeAll(async () => {
  await harness.put('fs', { tools: [READ, { name: 'write_file', description: 'Writes a file' }] });
  await harness.put('db', { tools: [{ name: 'query' }] });
});

const SUMMARY = {
  name: 'fs__read_file',
  title: 'Read a file',
  description: 'Reads a file whole',
  serverId: 'fs',
};

const names = async (args: object, scope = only('fs', 'db')): Promise<unknown> => {
  const { tools } = await harness.callStructured('catalog_tools', args, scope);
  return (tools as { name: string }[]).map(({ name }) => name);
};

describe('catalog_tools', () => {
  it('returns summaries without schemas and without meta tools', async () => {
    expect(await harness.callStructured('catalog_tools', {})).toEqual({
      tools: [
        { name: 'db__query', serverId: 'db' },
        SUMMARY,
        { name: 'fs__write_file', description: 'Writes a file', serverId: 'fs' },
      ],
    });
  });

  it('filters by server within the scope', async () => {
    expect(await names({ serverId: 'db' })).toEqual(['db__query']);
    expect(await names({ serverId: '' })).toEqual([]);
    expect(await names({ serverId: 'db' }, only('fs'))).toEqual([]);
    expect(await names({}, only('db'))).toEqual(['db__query']);
  });
});

describe('describe_tool', () => {
  it.each(['fs__read_file', 'read_file'])('returns the whole definition of %s', async (name) => {
    expect(await harness.callStructured('describe_tool', { name })).toEqual({
      tool: {
        ...READ,
        name: 'fs__read_file',
        _meta: { 'io.gatehouse/server': 'fs', 'io.gatehouse/name': 'read_file' },
      },
    });
  });

  it('finds a tool that lost its public name to another server by the name that still calls it', async () => {
    recordLog();
    const never = new MetaToolHarness();
    for (const id of ['first', 'second'])
      await never.put(id, { tools: [{ name: 'same', title: id }] }, 'never');
    expect(await never.callStructured('describe_tool', { name: 'same' })).toMatchObject({
      tool: { title: 'first' },
    });
    expect(await never.callStructured('describe_tool', { name: 'second__same' })).toMatchObject({
      tool: { name: 'second__same', title: 'second' },
    });
  });

  it('finds meta tools, and no tool out of scope', async () => {
    expect(await harness.callStructured('describe_tool', { name: 'describe_tool' }, only())).toMatchObject({
      tool: { name: 'describe_tool', _meta: { 'io.gatehouse/server': 'gatehouse' } },
    });
    expect(await harness.call('describe_tool', { name: 'fs__read_file' }, only('db'))).toEqual({
      content: [{ type: 'text', text: 'Unknown tool: fs__read_file' }],
      isError: true,
    });
  });
});

describe('search_tools', () => {
  it('returns summaries, best match first, within the scope and the limit', async () => {
    const { tools } = await harness.callStructured('search_tools', { query: 'read file' });
    expect((tools as unknown[])[0]).toEqual(SUMMARY);
    expect(tools).toHaveLength(2);
    expect((await harness.callStructured('search_tools', { query: 'file', limit: 1 }))['tools']).toHaveLength(
      1,
    );
    expect(await harness.callStructured('search_tools', { query: 'file' }, only('db'))).toEqual({
      tools: [],
    });
  });
});
