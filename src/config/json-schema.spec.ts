import { describe, expect, it } from '@jest/globals';
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
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
          anyOf: [{ required: ['url'] }, { required: ['serverUrl'] }, { required: ['httpUrl'] }],
          properties: { type: { anyOf: [{ enum: expect.arrayContaining(['streamable-http']) }, REFERENCE] } },
        },
      ],
    });
  });

  it('accepts the keys of other clients that are translated, each marked as one', () => {
    const [stdio, http] = at('properties', 'mcpServers', 'additionalProperties', 'anyOf') as {
      properties: Record<string, { description: string; deprecated?: boolean }>;
    }[];
    const marked = (form = stdio): string[] =>
      Object.entries(form!.properties)
        .filter(([, { deprecated }]) => deprecated)
        .map(([name]) => name);
    const common = ['disabled', 'disabledTools', 'excludeTools', 'timeout'];
    expect(marked(stdio)).toEqual([...common, 'transportType']);
    expect(marked(http)).toEqual([...common, 'serverUrl', 'httpUrl', 'transportType']);
    expect(http!.properties['timeout']).toEqual({
      description:
        'Key of Cline, Roo Code, Claude Code and Gemini CLI, which is read as `timeoutMs`: up to 3600 in seconds, above that in milliseconds.',
      type: 'number',
      deprecated: true,
    });
    const accepts = new Ajv({ strict: false }).compile(schema);
    const withServer = (server: object): boolean => accepts({ mcpServers: { a: server } });
    expect(withServer({ command: 'x', disabled: true, disabledTools: ['rm'], timeout: 60 })).toBe(true);
    expect(withServer({ serverUrl: 'https://x/mcp' })).toBe(true);
    expect(withServer({ httpUrl: 'https://x/mcp', headers: { A: 'b' }, timeout: 30_000 })).toBe(true);
    expect(withServer({ command: 'x', httpUrl: 'https://x/mcp' })).toBe(false);
    expect(withServer({ headers: { A: 'b' } })).toBe(false);
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
