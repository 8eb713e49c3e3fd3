import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';

/**
 * By member of a list result: the schema with which SDK clients validate its definitions. Such a client rejects a whole page
 * because of one invalid definition, and a page of the gateway has definitions of many servers. The schemas accept unknown
 * members.
 */
const SCHEMAS = {
  tools: ToolSchema,
  prompts: PromptSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
} as const;

/** The member of a list result that contains the definitions. */
export type ListMember = keyof typeof SCHEMAS;

/**
 * Makes a definition valid for clients: removes invalid optional members, uses the URI as a missing name, and adds
 * `type: object` to an input schema without a type. `key` is the own name or URI, and `value` is the parsed `text`. Returns the
 * same text when the definition is valid, and undefined when a required member cannot be repaired.
 */
export function repairDefinition(
  member: ListMember,
  key: string,
  text: string,
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  const { error } = SCHEMAS[member].safeParse(value);
  if (!error) return text;
  const invalidMembers = new Set(error.issues.map(({ path }) => String(path[0])));
  const replacements = new Map<string, string>();
  if (invalidMembers.has('name')) replacements.set('name', JSON.stringify(key));
  const schema = invalidMembers.has('inputSchema') ? repairSchema(text, value['inputSchema']) : undefined;
  if (schema !== undefined) replacements.set('inputSchema', schema);
  const removed = [...invalidMembers].filter((name) => !replacements.has(name));
  if (!removed.every((name) => isOptional(member, name))) return undefined;
  let repaired = removed.length > 0 ? withoutMembers(text, new Set(removed)) : text;
  for (const [name, json] of replacements) repaired = withMember(repaired, name, json);
  return repaired;
}

/**
 * The input schema with `type: object`; undefined when that does not make it valid. Many servers send `{}`, or no schema, for a
 * tool without arguments.
 */
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
