import { memberText, withMember, type JsonText } from '../lib/json-text/json-text.js';
import { isJsonObject } from '../lib/json-text/json-value.js';

/*
 * Up to revision 2025-11-25, `outputSchema` and `structuredContent` of a tool are objects, and SDK clients refuse a whole
 * list or result with any other value. So another schema S becomes an object with the one property `result`, whose schema
 * is S, and the structured content becomes such an object.
 */

/** Keywords whose values are data and contain no schemas. */
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);

/** The JSON text of the object schema; undefined when the schema is an object schema already, or is no JSON object. */
export function objectOutputSchema(definition: string, schema: unknown): string | undefined {
  if (!isJsonObject(schema) || schema['type'] === 'object') return undefined;
  const text = memberText(definition, 'outputSchema')!;
  const moved = text.includes('$ref') ? JSON.stringify(moveReferences(schema)) : text;
  const object = `{"type":"object","properties":{"result":${moved}},"required":["result"]}`;
  const dialect = schema['$schema'];
  return typeof dialect === 'string' ? withMember(object, '$schema', JSON.stringify(dialect)) : object;
}

/** The result of a call as a client that requires an object reads it. `wrapsOutput`: the schema of the tool was wrapped. */
export function withObjectOutput(result: JsonText, wrapsOutput: boolean): JsonText {
  if (!result.includes('"structuredContent"')) return result;
  const first = result.firstCharacterOf('structuredContent');
  if (first === undefined || (first === '{' && !wrapsOutput)) return result;
  return result.wrapMember('structuredContent', '{"result":', '}');
}

/** References to the root of the document, which is now the schema of the property. An embedded `$id` has its own root. */
function moveReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(moveReferences);
  if (!isJsonObject(schema) || typeof schema['$id'] === 'string') return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (DATA_KEYWORDS.has(key)) return [key, value];
      const isRootReference = key === '$ref' && typeof value === 'string' && /^#(\/|$)/.test(value);
      return [key, isRootReference ? `#/properties/result${value.slice(1)}` : moveReferences(value)];
    }),
  );
}
