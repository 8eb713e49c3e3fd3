import { configJsonSchema, type JsonSchema } from '../../config/json-schema.js';
import { isPlainObject } from '../plain-object.js';

/** The schema of one server in the config file, but for variables: the API has no part in the environment. */
export function definitionSchema(): JsonSchema {
  const { properties } = configJsonSchema() as {
    properties: { mcpServers: { additionalProperties: JsonSchema } };
  };
  return withoutVariables(properties.mcpServers.additionalProperties) as JsonSchema;
}

function withoutVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutVariables);
  if (!isPlainObject(schema)) return schema;
  const { anyOf, ...rest } = schema;
  const forms = Array.isArray(anyOf) ? anyOf.filter((form) => !isVariable(form)) : [];
  const [only] = forms as JsonSchema[];
  const inlined =
    forms.length === 1 ? { ...rest, ...only } : forms.length > 1 ? { ...rest, anyOf: forms } : rest;
  return Object.fromEntries(Object.entries(inlined).map(([name, value]) => [name, withoutVariables(value)]));
}

const isVariable = (form: unknown): boolean => isPlainObject(form) && '$ref' in form;
