import { memberText, withMember, type JsonText } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

/*
 * Up to revision 2025-11-25, the `outputSchema` of a tool describes an object, and the `structuredContent` of a result is an
 * object. If one schema in a list of tools describes another type, an SDK client refuses the whole list; if the structured
 * content has another type, it refuses the whole result. A schema of another type is therefore wrapped: it becomes the schema
 * of the property `result` in the schema of an object. The structured content becomes the value of `result` in an object.
 */

/** Keywords whose values are data and contain no schemas. */
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose values are objects of schemas. Their keys are names, which may equal a keyword. */
const NAMED_SCHEMAS = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/**
 * The JSON text of the wrapped schema; undefined when the schema describes an object already, or is not a JSON object.
 * `schema` is the parsed `outputSchema` in the text `definition`.
 */
export function objectOutputSchema(definition: string, schema: unknown): string | undefined {
  if (!isJsonObject(schema) || schema['type'] === 'object') return undefined;
  const text = memberText(definition, 'outputSchema')!;
  const resultSchema = text.includes('$ref') ? JSON.stringify(moveReferences(schema)) : text;
  const object = `{"type":"object","properties":{"result":${resultSchema}},"required":["result"]}`;
  const dialect = schema['$schema'];
  return typeof dialect === 'string' ? withMember(object, '$schema', JSON.stringify(dialect)) : object;
}

/** The result of a call with an object as structured content. `wrapsOutput`: whether the schema of the tool is wrapped. */
export function withObjectOutput(result: JsonText, wrapsOutput: boolean): JsonText {
  if (!result.mayHaveMember('structuredContent')) return result;
  const firstCharacter = result.firstCharacterOf('structuredContent');
  const isObject = firstCharacter === '{';
  if (firstCharacter === undefined || (isObject && !wrapsOutput)) return result;
  return result.wrapMember('structuredContent', '{"result":', '}');
}

/**
 * Rewrites references that begin at the root of the schema, because the root moves to `#/properties/result`. In a subschema
 * with `$id`, references have another root and stay as they are.
 */
function moveReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moveReferences);
  if (!isJsonObject(schema) || typeof schema['$id'] === 'string') return schema;
  return mapMembers(schema, (value, key) => {
    if (DATA_KEYWORDS.has(key)) return value;
    if (NAMED_SCHEMAS.has(key) && isJsonObject(value)) return mapMembers(value, moveReferences);
    const isRootReference = key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value);
    return isRootReference ? `#/properties/result${value.slice(1)}` : moveReferences(value);
  });
}

const mapMembers = (
  object: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): object => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
