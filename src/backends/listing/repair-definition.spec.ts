import * as v1 from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { repairDefinition, type ListMember } from './repair-definition.js';

const repaired = (member: ListMember, key: string, text: string): string | undefined =>
  repairDefinition(member, key, text, JSON.parse(text) as Record<string, unknown>);

describe('repairDefinition', () => {
  it.each<[ListMember, string]>([
    ['resources', '{ "uri":"x:1", "name":"", "size":1.0, "x":[ 1 ], "again":1, "again":2 }'],
    ['resourceTemplates', '{"uriTemplate":"x:{y}","name":"n","annotations":{"priority":1.0,"own":true}}'],
    ['tools', '{"name":"t","inputSchema":{"type":"object","properties":{"a":{}},"x":null},"future":{}}'],
    ['prompts', '{"name":"p","arguments":[{"name":"a","required":false,"x":1}],"_meta":{"a":1.0}}'],
  ])('keeps a valid definition of %s unchanged', (member, text) => {
    expect(repaired(member, 'k', text)).toBe(text);
  });

  it.each<[ListMember, string]>([
    ['resources', '{ "uri" : "x:1","n":1.0}'],
    ['resources', '{ "uri" : "x:1","name":7,"n":1.0}'],
    ['resourceTemplates', '{ "uriTemplate" : "x:1","name":null,"n":1.0}'],
  ])('uses the URI as the missing name in %s: %s', (member, text) => {
    const { name, n } = JSON.parse(repaired(member, 'x:1', text)!) as Record<string, unknown>;
    expect([name, n]).toEqual(['x:1', 1]);
    expect(repaired(member, 'x:1', text)).toContain('"n":1.0');
  });

  it.each<[ListMember, string, string]>([
    ['resources', '"size":"3"', '{"uri":"u","name":"n","x":1.0}'],
    ['resources', '"mimeType":null', '{"uri":"u","name":"n","x":1.0}'],
    ['resources', '"icons":[{}],"title":7', '{"uri":"u","name":"n","x":1.0}'],
    ['resources', '"annotations":{"lastModified":"today"}', '{"uri":"u","name":"n","x":1.0}'],
    ['resources', '"size":1,"size":"3"', '{"uri":"u","name":"n","x":1.0}'],
  ])('drops only invalid optional members in %s: %s', (member, part, expected) => {
    expect(repaired(member, 'u', `{ "uri":"u", "name":"n", ${part} , "x":1.0 }`)).toBe(expected);
  });

  it.each<[ListMember, string]>([
    ['tools', '{"name":"t","inputSchema":"none"}'],
    ['tools', '{"name":"t","inputSchema":{"type":"string"}}'],
    ['tools', '{"name":"t","inputSchema":{"type":"object","properties":{"a":true}}}'],
  ])('returns undefined in %s for an invalid schema: %s', (member, text) => {
    expect(repaired(member, 't', text)).toBeUndefined();
  });

  it.each([
    ['{"name":"t"}', '{"type":"object"}'],
    ['{"name":"t","inputSchema":null}', '{"type":"object"}'],
    ['{"name":"t","inputSchema":{ }}', '{ "type":"object"}'],
    ['{"name":"t","inputSchema":{"required":["a"],"x":1.0}}', '{"required":["a"],"x":1.0,"type":"object"}'],
  ])('adds type object to a schema without a type: %s', (text, schema) => {
    expect(repaired('tools', 't', text)).toBe(`{"name":"t","inputSchema":${schema}}`);
  });

  it('keeps a tool with invalid optional members', () => {
    const text = '{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"execution":1}';
    expect(repaired('tools', 't', text)).toBe('{"name":"t","inputSchema":{"type":"object"}}');
  });
});

/** Values that a server may send in a member of the protocol. */
const values = fc.oneof(
  fc.constantFrom<unknown>(null, true, 7, 'text', [], {}, [{}], [{ name: 'n' }], { type: 'object' }),
  fc.constantFrom<unknown>({ audience: ['user'], priority: 2 }, { taskSupport: 'no' }, [{ src: 'x' }]),
  fc.jsonValue({ maxDepth: 2 }),
);
const MEMBERS =
  'name title description mimeType size icons annotations arguments execution inputSchema outputSchema _meta unknown';
const definitions = fc.dictionary(fc.constantFrom(...MEMBERS.split(' ')), values, { maxKeys: 6 });

const LISTS: readonly [ListMember, string, (page: unknown) => boolean][] = [
  ['tools', 'name', (page) => v1.ListToolsResultSchema.safeParse(page).success],
  ['prompts', 'name', (page) => v1.ListPromptsResultSchema.safeParse(page).success],
  ['resources', 'uri', (page) => v1.ListResourcesResultSchema.safeParse(page).success],
  [
    'resourceTemplates',
    'uriTemplate',
    (page) => v1.ListResourceTemplatesResultSchema.safeParse(page).success,
  ],
];

describe('repairDefinition, any input', () => {
  it.each(LISTS)('makes definitions in %s valid for clients', (member, key, accepts) => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const text = repaired(member, 'k', JSON.stringify({ ...definition, [key]: 'k' }));
        if (text === undefined) return;
        const entry = JSON.parse(text) as Record<string, unknown>;
        expect(accepts({ [member]: [entry] })).toBe(true);
        // JSON has no -0.
        expect(entry['unknown']).toEqual(JSON.parse(JSON.stringify(definition))['unknown']);
      }),
      { numRuns: 300 },
    );
  });
});
