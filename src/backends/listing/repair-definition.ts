import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';

/**
 * The schemas with which SDK clients validate definitions. Such a client rejects a whole page because of one invalid
 * entry, and a page of the gateway has entries of many servers. The schemas accept unknown members.
 */
const SCHEMAS = {
  tools: ToolSchema,
  prompts: PromptSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
} as const;

export type ListMember = keyof typeof SCHEMAS;

/**
 * Makes a definition valid for clients: drops invalid optional members, uses the URI as a missing name, and adds
 * `type: object` to an input schema without a type. `key` is the own name or URI. Returns the same text when the
 * definition is valid, and undefined when a required member cannot be repaired.
 */
export function repairDefinition(
  member: ListMember,
  key: string,
  text: string,
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  const { error } = SCHEMAS[member].safeParse(value);
  if (!error) return text;
  const invalid = new Set(error.issues.map(({ path }) => String(path[0])));
  const replacements = new Map<string, string>();
  if (invalid.has('name')) replacements.set('name', JSON.stringify(key));
  const schema = invalid.has('inputSchema') ? repairSchema(text, value['inputSchema']) : undefined;
  if (schema !== undefined) replacements.set('inputSchema', schema);
  const dropped = [...invalid].filter((name) => !replacements.has(name));
  if (!dropped.every((name) => isOptional(member, name))) return undefined;
  const kept = dropped.length > 0 ? withoutMembers(text, new Set(dropped)) : text;
  return [...replacements].reduce((result, [name, json]) => withMember(result, name, json), kept);
}

/** Adds `type: object`. Many servers send `{}`, or no schema, for a tool without arguments. */
function repairSchema(definition: string, schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return '{"type":"object"}';
  if (!isJsonObject(schema) || schema['type'] !== undefined) return undefined;
  if (!ToolSchema.shape.inputSchema.safeParse({ ...schema, type: 'object' }).success) return undefined;
  return withMember(memberText(definition, 'inputSchema')!, 'type', '"object"');
}

function isOptional(member: ListMember, name: string): boolean {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } }>> =
    SCHEMAS[member].shape;
  return shape[name]?.safeParse(undefined).success ?? false;
}
