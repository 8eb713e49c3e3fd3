import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { MetaToolHarness } from '../../test/kit/meta-tool-harness.js';
import { refusalOf } from '../../test/kit/promises.js';
import { listOf, only } from '../../test/kit/offers.js';
import { EVERYTHING } from '../core/scope.js';

const harness = new MetaToolHarness();

beforeAll(async () => {
  await harness.put('fs', {
    tools: [
      { name: 'read_file', title: 'Read a file', description: 'Reads', inputSchema: { type: 'object' } },
    ],
    resources: [{ uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain', size: 3 }],
    templates: [{ uriTemplate: 'file:///{+path}', name: 'any file' }],
  });
  // Its members have wrong types, but it is listed.
  await harness.put('odd', {
    tools: [{ name: 'odd', title: 7, description: null }],
    resources: [{ uri: 'x:1', name: 5, size: '3', mimeType: [] }, { uri: 'x:2' }],
    templates: [{ uriTemplate: 'x:{y}', name: {} }],
  });
});

const schemas = new AjvJsonSchemaValidator();
const isValid = (schema: object, value: unknown): boolean => schemas.getValidator(schema)(value).valid;
const definitionOf = (name: string) =>
  ToolSchema.parse(harness.tools.find((tool) => tool.name === name)!.definition);

/** Valid calls. */
const CALLS: readonly (readonly [name: string, args: object])[] = [
  ['catalog_resources', {}],
  ['catalog_resources', { serverId: 'fs', limit: 1 }],
  ['catalog_resources', { limit: 1 }],
  ['describe_resource', { uri: 'file:///a.txt' }],
  ['describe_resource', { uri: 'file:///b.txt' }],
  ['describe_resource', { uri: 'x:1' }],
  ['search_resources', { query: 'a' }],
  ['search_resources', { query: 'x' }],
  ['catalog_resource_templates', {}],
  ['catalog_tools', { limit: 1 }],
  ['describe_tool', { name: 'fs__read_file' }],
  ['search_tools', { query: 'odd read' }],
];

describe('meta tools', () => {
  it('are listed without a prefix, under the documented names', () => {
    const names = [
      'catalog_resource_templates',
      'catalog_resources',
      'catalog_tools',
      'describe_resource',
      'describe_tool',
      'search_resources',
      'search_tools',
    ];
    expect(harness.tools.map(({ name }) => name).toSorted()).toEqual(names);
    const listed = JSON.parse(listOf(harness.registry.catalog.tools, only())) as {
      tools: { name: string }[];
    };
    expect(listed.tools.map(({ name }) => name)).toEqual(names);
  });

  it.each(harness.tools.map(({ name }) => name))('%s has an input and an output schema', (name) => {
    const { title, description, inputSchema, outputSchema, annotations } = definitionOf(name);
    expect([title, description].every((text) => text !== undefined && text.length > 5)).toBe(true);
    expect(annotations).toMatchObject({ readOnlyHint: true });
    for (const schema of [inputSchema, outputSchema!]) {
      expect(schema.type).toBe('object');
      const { properties = {}, required = [] } = schema;
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(required));
      expect(isValid(schema, 'not an object')).toBe(false);
    }
  });

  it.each(CALLS)('%s(%j) matches its schemas and returns the result as text, too', async (name, args) => {
    const { inputSchema, outputSchema } = definitionOf(name);
    expect(isValid(inputSchema, args)).toBe(true);
    const { structuredContent, content, isError } = await harness.call(name, args);
    expect(isError).toBeUndefined();
    expect(isValid(outputSchema!, structuredContent)).toBe(true);
    expect(Object.keys(structuredContent!).length).toBeGreaterThan(0);
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  });

  it.each([
    ['catalog_resources', { limit: 1001 }, 'limit must be a whole number from 1 to 1000'],
    ['catalog_tools', { limit: 'all' }, 'limit must be a whole number from 1 to 1000'],
    ['catalog_resource_templates', { serverId: 7 }, 'serverId must be a string'],
    ['describe_resource', {}, 'uri is required'],
    ['describe_resource', { uri: 7 }, 'uri must be a string'],
    ['describe_resource', { uri: 'y:1' }, 'RESOURCE_NOT_FOUND: resource y:1 is not available'],
    ['describe_tool', { name: 'none' }, 'Unknown tool: none'],
    ['search_resources', {}, 'query is required'],
    ['search_resources', { query: ' ' }, 'query must not be empty'],
    ['search_resources', { query: 'a', mimeType: 1 }, 'mimeType must be a string'],
    ['search_tools', { query: 'x'.repeat(257) }, 'query must not be longer than 256 characters'],
    ['search_tools', [], 'arguments must be an object'],
    ['search_tools', 'query', 'arguments must be an object'],
    ['search_tools', 7, 'arguments must be an object'],
  ])('%s(%j) returns a tool error that names the invalid argument', async (name, args, message) => {
    expect(await harness.call(name, args)).toEqual({
      content: [{ type: 'text', text: message }],
      isError: true,
    });
  });

  it.each(['catalog_resources', 'catalog_resource_templates', 'catalog_tools'])(
    '%s accepts missing arguments',
    async (name) => {
      for (const args of [undefined, null, {}])
        expect(await harness.callStructured(name, args)).toBeDefined();
    },
  );

  it('keep their names when a server has a tool of the same name, which is called by its prefixed name', async () => {
    const other = new MetaToolHarness();
    await other.put('fs', { tools: [{ name: 'search_tools' }] });
    const view = other.registry.catalog.tools.view(EVERYTHING);
    expect(view.find('fs__search_tools')).toMatchObject({ server: 'fs', ownName: 'search_tools' });
    expect(view.find('search_tools')).toMatchObject({ server: '', ownName: 'search_tools' });
    expect(await other.callStructured('describe_tool', { name: 'fs__search_tools' })).toMatchObject({
      tool: { name: 'fs__search_tools' },
    });
  });
});

const cursorOf = async (name: string, args: object = {}, scope = EVERYTHING): Promise<string> =>
  String((await harness.callStructured(name, { limit: 1, ...args }, scope))['nextCursor']);

const refusal = async (name: string, args: object, scope = EVERYTHING): Promise<unknown> =>
  refusalOf(harness.call(name, args, scope));

describe('cursor of a meta tool', () => {
  const CATALOGS = ['catalog_resources', 'catalog_resource_templates', 'catalog_tools'];
  const refused = expect.objectContaining({ kind: 'invalid-params' });

  it.each(CATALOGS)('of %s pages through all summaries', async (name) => {
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const { nextCursor, ...lists } = await harness.callStructured(name, { limit: 1, cursor });
      seen.push(...(Object.values(lists)[0] as unknown[]));
      cursor = nextCursor;
    } while (cursor !== undefined);
    const [all] = Object.values(await harness.callStructured(name, { limit: 100 }));
    expect(seen).toEqual(all);
    expect(seen.length).toBeGreaterThan(1);
  });

  it.each(CATALOGS)('of %s is refused by other tools, scopes and servers', async (name) => {
    const cursor = await cursorOf(name);
    for (const other of CATALOGS.filter((one) => one !== name))
      expect(await refusal(other, { cursor })).toEqual(refused);
    expect(await refusal(name, { cursor }, only('fs', 'odd'))).toEqual(refused);
    expect(await refusal(name, { cursor, serverId: 'fs' })).toEqual(refused);
    expect(
      await refusal(name, { cursor: `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}` }),
    ).toEqual(refused);
    expect(await refusal(name, { cursor: `A${cursor}` })).toEqual(refused);
  });

  it.each(['', 7, null, {}, 'resource://fs/file:///a.txt', 'x'.repeat(100_000)])(
    'is refused if it is %j',
    async (cursor) => {
      for (const name of CATALOGS) expect(await refusal(name, { cursor })).toEqual(refused);
    },
  );
});
