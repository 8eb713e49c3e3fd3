import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';
import { isJsonObject } from '../../lib/json-text/json-value.js';

/**
 * The schemas by which clients on the SDK validate definitions. Such a client rejects a whole page for one invalid
 * entry, and a page of the gateway has entries of many servers. Unknown members pass.
 */
const SCHEMAS = {
  tools: ToolSchema,
  prompts: PromptSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
} as const;

export type ListMember = keyof typeof SCHEMAS;

/**
 * Makes a definition valid for clients: drops invalid optional members, takes the URI for a missing name, and adds
 * `type: object` to an input schema without a type. Returns the same text where the definition is valid, undefined where
 * a required member is invalid.
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
  const added = new Map<string, string>();
  if (invalid.delete('name')) added.set('name', JSON.stringify(key));
  const schema = invalid.has('inputSchema') ? typedSchema(text, value['inputSchema']) : undefined;
  if (schema !== undefined && invalid.delete('inputSchema')) added.set('inputSchema', schema);
  if (![...invalid].every((part) => isOptional(member, part))) return undefined;
  const kept = invalid.size > 0 ? withoutMembers(text, invalid) : text;
  return [...added].reduce((result, [part, json]) => withMember(result, part, json), kept);
}

/** Many servers send `{}`, or no schema, for a tool without arguments. */
function typedSchema(definition: string, schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return '{"type":"object"}';
  const isTyped =
    isJsonObject(schema) && ToolSchema.shape.inputSchema.safeParse({ ...schema, type: 'object' }).success;
  if (!isTyped || schema['type'] !== undefined) return undefined;
  return withMember(memberText(definition, 'inputSchema')!, 'type', '"object"');
}

function isOptional(member: ListMember, part: string): boolean {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } }>> =
    SCHEMAS[member].shape;
  return shape[part]?.safeParse(undefined).success ?? false;
}
