import { isJsonObject } from '../lib/json-text/json-value.js';
import type { Params } from './json-rpc.js';
import type { HttpHeaders } from './standard-headers.js';
import { headerMismatch, headerValue, textOfHeader } from './standard-headers.js';

/** One argument of a tool that is repeated in a header: `x-mcp-header` in the input schema (revision 2026-07-28). */
export interface ParamHeader {
  /** The header is `Mcp-Param-` and this name. */
  readonly name: string;
  /** The keys from the arguments to the value. */
  readonly path: readonly string[];
}

const KEYWORD = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
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
/** The same, for keywords whose value has a schema for each of its keys. */
const CONDITIONAL_MAPS = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * The headers of a tool; undefined when its schema declares one that the specification forbids. A client must leave out such
 * a tool. `definition` is the text of the tool.
 */
export function paramHeadersOf(definition: string, inputSchema: unknown): readonly ParamHeader[] | undefined {
  // The keyword may be written with escapes.
  if (!definition.includes(KEYWORD) && !definition.includes('\\u')) return [];
  const found: ParamHeader[] = [];
  const isValid = collect(inputSchema, [], found);
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  return isValid && names.size === found.length ? found : undefined;
}

/** The lines of the headers for one call. An argument that is null, or not there, has no header. */
export function paramHeaders(headers: readonly ParamHeader[], args: unknown): string {
  let lines = '';
  for (const { name, path } of headers) {
    const value = textOf(path.reduce<unknown>((object, key) => memberOf(object, key), args));
    if (value !== undefined) lines += `mcp-param-${name}: ${headerValue(value)}\r\n`;
  }
  return lines;
}

/**
 * Throws unless the headers of a request have the arguments that the tool declares. Without `headers`, the revision has none.
 * A header for an argument that is null or not there is ignored, as the specification says.
 */
export function requireParamHeaders(
  declared: readonly ParamHeader[] | undefined,
  params: Params | undefined,
  headers: HttpHeaders | undefined,
): void {
  if (!declared || !headers) return;
  for (const { name, path } of declared) {
    const value = path.reduce<unknown>((object, key) => memberOf(object, key), params?.['arguments']);
    const expected = textOf(value);
    if (expected === undefined) continue;
    const text = textOfHeader(headers[`mcp-param-${name.toLowerCase()}`]);
    const isEqual =
      text === expected || (typeof value === 'number' && isNumber(text) && Number(text) === value);
    if (!isEqual) throw headerMismatch(`Mcp-Param-${name} must be the argument ${path.join('.')}`);
  }
}

/** A number in any spelling of JSON. */
const isNumber = (text: string | undefined): boolean =>
  text !== undefined && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);

/** Returns false at the first forbidden declaration. */
function collect(schema: unknown, path: readonly string[], found: ParamHeader[]): boolean {
  if (!isJsonObject(schema)) return true;
  if (KEYWORD in schema) {
    const name = schema[KEYWORD];
    if (path.length === 0 || typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(schema['type']))
      return false;
    found.push({ name, path });
  }
  const { properties } = schema;
  const areValid =
    !isJsonObject(properties) ||
    Object.entries(properties).every(([key, child]) => collect(child, [...path, key], found));
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

const memberOf = (object: unknown, key: string): unknown =>
  isJsonObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;

/** `4.2e1` in the body is 42 in the header. An integer that a double does not hold has no header. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    return undefined;
  return String(value);
}
