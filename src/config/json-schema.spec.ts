import { describe, expect, it } from '@jest/globals';
import { configJsonSchema } from './json-schema.js';

const schema = JSON.parse(JSON.stringify(configJsonSchema())) as Record<string, unknown>;
const REFERENCE = { $ref: '#/$defs/reference' };

function at(...path: string[]): unknown {
  return path.reduce((node: unknown, step) => (node as Record<string, unknown>)[step], schema);
}

describe('configJsonSchema', () => {
  it('describes a number with its bounds and default, or a variable', () => {
    expect(at('properties', 'http', 'properties', 'port')).toEqual({
      description: 'Port to listen on; 0 selects a free port.',
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

  it('describes a server as one of two forms with their required keys', () => {
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

  it('has no section that accepts unknown keys', () => {
    const lenient = nodesOf(schema).filter(
      (node) => 'properties' in node && node['additionalProperties'] !== false,
    );
    expect(lenient).toEqual([]);
  });

  it('describes every key with a sentence', () => {
    const keys = nodesOf(schema).flatMap(({ properties = {} }) => Object.entries(properties as object));
    const undescribed = keys.filter(([, key]) => !(key as { description: string }).description.endsWith('.'));
    expect(keys.length).toBeGreaterThan(40);
    expect(undescribed).toEqual([]);
  });
});

function nodesOf(node: unknown): Record<string, unknown>[] {
  if (typeof node !== 'object' || node === null) return [];
  return [node as Record<string, unknown>, ...Object.values(node).flatMap(nodesOf)];
}
