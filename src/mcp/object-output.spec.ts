import { CallToolResultSchema, ToolSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { JsonText } from '../lib/json-text/json-text.js';
import { objectOutputSchema, withObjectOutput } from './object-output.js';

const wrapped = (schema: unknown): unknown => {
  const text = objectOutputSchema(JSON.stringify({ outputSchema: schema }), schema);
  return text === undefined ? undefined : JSON.parse(text);
};
const objectOf = (result: unknown, more: object = {}) => ({
  type: 'object',
  properties: { result },
  required: ['result'],
  ...more,
});

const membersNamedLikeKeywords = (root: string) => ({
  default: { $ref: `${root}/$defs/a` },
  enum: { items: { $ref: root } },
});

describe('objectOutputSchema', () => {
  it.each([{ type: 'object' }, { type: 'object', $ref: '#/x' }, undefined, null, true, 'string', []])(
    'leaves %j unchanged',
    (schema) => {
      expect(wrapped(schema)).toBeUndefined();
    },
  );

  it.each([{ type: 'array', items: {} }, { type: 'string' }, {}, { anyOf: [{ type: 'object' }] }])(
    'wraps %j',
    (schema) => {
      expect(wrapped(schema)).toEqual(objectOf(schema));
      const tool = { name: 't', inputSchema: { type: 'object' }, outputSchema: wrapped(schema) };
      expect(ToolSchema.safeParse(tool).success).toBe(true);
    },
  );

  it('keeps the text of a schema without references', () => {
    const text = '{"outputSchema":{"type":"number", "maximum":1.0}}';
    expect(objectOutputSchema(text, { type: 'number', maximum: 1 })).toContain(
      '{"type":"number", "maximum":1.0}',
    );
  });

  it('moves references to the root of the document, and no others', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $ref: '#/$defs/a',
      $defs: {
        a: { items: { $ref: '#' } },
        b: { $ref: '#anchor' },
        c: { $ref: 'https://example.com/#/x' },
        d: { const: { $ref: '#/x' }, enum: [{ $ref: '#/x' }] },
        e: { $id: 'https://example.com/e', $ref: '#/x' },
        f: { properties: { $ref: { $ref: '#/$defs/a' } } },
      },
    };
    const root = '#/properties/result';
    const result = {
      ...schema,
      $ref: `${root}/$defs/a`,
      $defs: {
        ...schema.$defs,
        a: { items: { $ref: root } },
        f: { properties: { $ref: { $ref: `${root}/$defs/a` } } },
      },
    };
    expect(wrapped(schema)).toEqual(objectOf(result, { $schema: schema.$schema }));
  });

  it.each(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])(
    'moves references in members of %s that have the name of a keyword',
    (keyword) => {
      const schema = { type: 'array', items: { [keyword]: membersNamedLikeKeywords('#') } };
      const moved = membersNamedLikeKeywords('#/properties/result');
      const result = { type: 'array', items: { [keyword]: moved } };
      expect(wrapped(schema)).toEqual(objectOf(result));
    },
  );
});

describe('withObjectOutput', () => {
  it.each([
    ['[1.0]', false, '{"result":[1.0]}'],
    ['null', false, '{"result":null}'],
    ['"x"', true, '{"result":"x"}'],
    ['{"a":1.0}', true, '{"result":{"a":1.0}}'],
    ['{"a":1.0}', false, '{"a":1.0}'],
  ])(
    'makes an object of the structured content %s (schema wrapped: %s)',
    (content, wrapsOutput, expected) => {
      const result = new JsonText(`{"content":[], "structuredContent":${content}}`);
      const { text, value } = withObjectOutput(result, wrapsOutput);
      expect(text).toBe(`{"content":[], "structuredContent":${expected}}`);
      expect(CallToolResultSchema.safeParse(value).success).toBe(true);
    },
  );

  it('finds structured content whose key is written with escapes', () => {
    const result = new JsonText('{"content":[],"structured\\u0043ontent":[1]}');
    expect(withObjectOutput(result, false).value).toEqual({
      content: [],
      structuredContent: { result: [1] },
    });
  });

  it.each(['{"content":[]}', '{"content":[{"type":"text","text":"\\"structuredContent\\""}]}'])(
    'returns the result unchanged without structured content: %s',
    (text) => {
      const result = new JsonText(text);
      expect(withObjectOutput(result, true)).toBe(result);
    },
  );
});
