import {
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ToolSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { memberText, withMember, withoutMembers } from '../../lib/json-text/json-text.js';
import { isObject } from '../../mcp/json-rpc.js';

/**
 * What clients of the SDK take for a definition. They refuse a whole page for one entry that is not so, and on the
 * page stand the entries of other servers, too. Everything else that is in a definition is no concern of the schemas.
 */
const SCHEMAS = {
  tools: ToolSchema,
  prompts: PromptSchema,
  resources: ResourceSchema,
  resourceTemplates: ResourceTemplateSchema,
} as const;

export type ListMember = keyof typeof SCHEMAS;

/**
 * The definition as clients take it: without the optional members they would refuse it for, called by its URI where it
 * has no name, with arguments that are an object where it does not say what they are. The same text when there is nothing to mend,
 * undefined when a part that it takes is there and of no use.
 */
export function repairDefinition(
  member: ListMember,
  key: string,
  text: string,
  value: Readonly<Record<string, unknown>>,
): string | undefined {
  const { error } = SCHEMAS[member].safeParse(value);
  if (!error) return text;
  const wrong = new Set(error.issues.map(({ path }) => String(path[0])));
  const added = new Map<string, string>();
  if (wrong.delete('name')) added.set('name', JSON.stringify(key));
  const schema = wrong.has('inputSchema') ? typedSchema(text, value['inputSchema']) : undefined;
  if (schema !== undefined && wrong.delete('inputSchema')) added.set('inputSchema', schema);
  if (![...wrong].every((part) => isOptional(member, part))) return undefined;
  const kept = wrong.size > 0 ? withoutMembers(text, wrong) : text;
  return [...added].reduce((result, [part, its]) => withMember(result, part, its), kept);
}

/** Many servers leave it at `{}`, or at nothing, where a tool takes no arguments. */
function typedSchema(definition: string, schema: unknown): string | undefined {
  if (schema === undefined || schema === null) return '{"type":"object"}';
  const isTyped =
    isObject(schema) && ToolSchema.shape.inputSchema.safeParse({ ...schema, type: 'object' }).success;
  if (!isTyped || schema['type'] !== undefined) return undefined;
  return withMember(memberText(definition, 'inputSchema')!, 'type', '"object"');
}

function isOptional(member: ListMember, part: string): boolean {
  const shape: Readonly<Record<string, { safeParse(value: unknown): { success: boolean } }>> =
    SCHEMAS[member].shape;
  return shape[part]?.safeParse(undefined).success ?? false;
}
