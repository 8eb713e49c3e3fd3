import { describe, expect, it } from '@jest/globals';
import { configJsonSchema } from './json-schema.js';

const schema = JSON.parse(JSON.stringify(configJsonSchema())) as Record<string, unknown>;
const REFERENCE = { $ref: '#/$defs/reference' };

function at(...path: string[]): unknown {
  return path.reduce((node: unknown, step) => (node as Record<string, unknown>)[step], schema);
}

describe('configJsonSchema', () => {
  it('describes a number with its bounds and default, or a variable in its place', () => {
    expect(at('properties', 'http', 'properties', 'port')).toEqual({
      description: 'Port to listen on; 0 takes a free one.',
      anyOf: [{ type: 'integer', minimum: 0, maximum: 65535 }, REFERENCE],
      default: 3000,
    });
  });

  it('describes a choice by its values', () => {
    expect(at('properties', 'naming', 'properties', 'tools')).toMatchObject({
      anyOf: [{ enum: ['always', 'conflict', 'never'] }, REFERENCE],
      default: 'always',
    });
  });

  it('describes a server as one of two kinds, each with what it needs', () => {
    expect(at('properties', 'mcpServers', 'additionalProperties')).toMatchObject({
      anyOf: [
        {
          required: ['command'],
          properties: { args: { type: 'array', items: { type: 'string' }, default: [] } },
        },
        {
          required: ['url'],
          properties: { type: { anyOf: [{ enum: expect.arrayContaining(['streamable-http']) }, REFERENCE] } },
        },
      ],
    });
  });

  it('knows no object that takes any key, and no key without a description', () => {
    const check = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      if ('properties' in node) {
        expect(node).toMatchObject({ type: 'object', additionalProperties: false });
        for (const key of Object.values(node.properties as object)) {
          expect(key).toHaveProperty('description', expect.stringMatching(/\.$/));
        }
      }
      for (const inner of Object.values(node)) check(inner);
    };
    check(schema);
  });
});
