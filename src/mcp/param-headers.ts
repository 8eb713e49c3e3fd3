import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Params } from './json-rpc.js';
import type { HttpHeaders } from './standard-headers.js';
import { headerMismatch, headerValue, textOfHeader } from './standard-headers.js';

/**
 * The HTTP header in which each call of a tool repeats one of its arguments (revision 2026-07-28). The property of the argument
 * in the input schema declares the header with the keyword `x-mcp-header`.
 */
export interface ParamHeader {
  /** The header is `Mcp-Param-` and this name. */
  readonly name: string;
  /** The keys that lead from the arguments to the value. */
  readonly path: readonly string[];
}

const KEYWORD = 'x-mcp-header';
/** The characters that HTTP allows in the name of a header. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The types of the arguments that may have a header. */
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Keywords with schemas that may not apply to every call. A header must not depend on such a schema. */
const CONDITIONAL_KEYWORDS = [
  'items',
  'prefixItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
];
/** Keywords like the ones above, but each value is an object whose members are schemas. */
const CONDITIONAL_MAPS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * The headers that a tool declares; undefined when the specification forbids one of the declarations. A client must leave out
 * such a tool. `definition` is the text of the tool.
 */
export function paramHeadersOf(definition: string, inputSchema: unknown): readonly ParamHeader[] | undefined {
  // The keyword may be written with escapes.
  if (!definition.includes(KEYWORD) && !definition.includes('\\u')) return [];
  const headers: ParamHeader[] = [];
  const areValid = collectHeaders(inputSchema, [], headers);
  const names = new Set(headers.map(({ name }) => name.toLowerCase()));
  return areValid && names.size === headers.length ? headers : undefined;
}

/** The lines of the headers for one call. An argument that is null or missing has no header. */
export function paramHeaders(headers: readonly ParamHeader[], args: unknown): string {
  let lines = '';
  for (const { name, path } of headers) {
    const text = textOf(valueAt(path, args));
    if (text !== undefined) lines += `mcp-param-${name}: ${headerValue(text)}\r\n`;
  }
  return lines;
}

/**
 * Throws when a declared argument of the request differs from its header, or has no header. `headers` is undefined in revisions
 * without such headers; nothing is checked then. A header whose argument is null or missing is ignored, as the specification
 * requires.
 */
export function requireParamHeaders(
  declared: readonly ParamHeader[] | undefined,
  params: Params | undefined,
  headers: HttpHeaders | undefined,
): void {
  if (!declared || !headers) return;
  for (const { name, path } of declared) {
    const value = valueAt(path, params?.['arguments']);
    const expected = textOf(value);
    if (expected === undefined) continue;
    const text = textOfHeader(headers[`mcp-param-${name.toLowerCase()}`]);
    const isEqual =
      text === expected || (typeof value === 'number' && isNumber(text) && Number(text) === value);
    if (!isEqual) throw headerMismatch(`Mcp-Param-${name} must be the argument ${path.join('.')}`);
  }
}

/** Whether the text is a number in the notation of JSON. */
const isNumber = (text: string | undefined): boolean =>
  text !== undefined && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);

/** Adds to `headers` the headers that the schema declares. Returns false at the first forbidden declaration. */
function collectHeaders(schema: unknown, path: readonly string[], headers: ParamHeader[]): boolean {
  if (!isJsonObject(schema)) return true;
  if (KEYWORD in schema) {
    const name = schema[KEYWORD];
    if (path.length === 0 || typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(schema['type']))
      return false;
    headers.push({ name, path });
  }
  const { properties } = schema;
  const areValid =
    !isJsonObject(properties) ||
    Object.entries(properties).every(([key, child]) => collectHeaders(child, [...path, key], headers));
  return areValid && !conditionalSchemas(schema).some(declaresHeader);
}

function conditionalSchemas(schema: Readonly<Record<string, unknown>>): unknown[] {
  return [
    ...CONDITIONAL_KEYWORDS.flatMap((key) => schema[key] ?? []),
    ...CONDITIONAL_MAPS.flatMap((key) => Object.values(schema[key] ?? {})),
  ];
}

function declaresHeader(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false;
  const { properties } = schema;
  return (
    KEYWORD in schema ||
    (isJsonObject(properties) && Object.values(properties).some(declaresHeader)) ||
    conditionalSchemas(schema).some(declaresHeader)
  );
}

/** The value to which the path leads; undefined if it is missing. */
function valueAt(path: readonly string[], args: unknown): unknown {
  let value = args;
  for (const key of path) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/**
 * The text of an argument in its header; undefined if it has no header. `4.2e1` in the body is `42` in the header. An integer
 * beyond 2^53 has no header, because a double may not hold it exactly.
 */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return undefined;
  return String(value);
}
