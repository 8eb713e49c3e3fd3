import { readFileSync } from 'node:fs';
import { isJsonObject, tryParseJson, type JsonObject } from '../lib/json-text/json-value.js';

/** Matches `name=text` and `name:=json`. */
const PAIR = /^([^=:]+)(:?=)(.*)$/s;

/** Whether the argument is `name=text`, whose type depends on the schema of the tool. */
export const isTextPair = (pair: string): boolean => PAIR.exec(pair)?.[2] === '=';

interface ArgumentOptions {
  /** Name of the option with the JSON, for error messages. */
  readonly option?: string;
  /** Converts the text of `name=text` to a value. Without this function, the value is the text. */
  readonly convert?: (name: string, text: string) => unknown;
}

/**
 * Parses the arguments of a tool from JSON (literal, `@file`, or `-` for stdin) and from pairs. A pair overrides the
 * member of the JSON with the same name. Throws a RangeError that says what is wrong.
 */
export function parseToolArguments(
  json: string | undefined,
  pairs: readonly string[],
  { option = '--args', convert = (_name, text) => text }: ArgumentOptions = {},
): Record<string, unknown> {
  const args = json === undefined ? {} : { ...parseObject(option, readJsonText(json)) };
  for (const pair of pairs) {
    const [, name, sign, value] = PAIR.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw new RangeError(`invalid argument ${pair}: use name=text, or name:=json for other types`);
    args[name] = sign === '=' ? convert(name, value) : parseJson(`${name}:=`, value);
  }
  return args;
}

function readJsonText(json: string): string {
  if (json === '-') return readFileSync(0, 'utf8');
  if (!json.startsWith('@')) return json;
  try {
    return readFileSync(json.slice(1), 'utf8');
  } catch (cause) {
    throw new RangeError(`cannot read ${json.slice(1)}: ${(cause as Error).message}`, { cause });
  }
}

function parseObject(option: string, text: string): JsonObject {
  const value = parseJson(option, text);
  if (isJsonObject(value)) return value;
  throw new RangeError(`${option} must be a JSON object, such as {"path":"a.txt"}`);
}

function parseJson(label: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new RangeError(`${label} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

/** For each JSON Schema type, a function that converts a text to a value of the type. It returns undefined for other texts. */
const CONVERSIONS: Readonly<Record<string, (text: string) => unknown>> = {
  number: (text) => (text.trim() === '' ? undefined : finite(Number(text))),
  integer: (text) => (/^[+-]?\d+$/.test(text) ? finite(Number(text)) : undefined),
  boolean: (text) => ({ true: true, false: false })[text],
  null: (text) => (text === 'null' ? null : undefined),
  array: (text) => jsonOf(text, Array.isArray),
  object: (text) => jsonOf(text, isJsonObject),
};

/**
 * Returns a function that converts the text of an argument to a type that the input schema of the tool accepts. A text
 * stays as it is if the schema accepts strings or names no type. The function throws a RangeError if no type fits the text.
 */
export function convertBySchema(schema: unknown): (name: string, text: string) => unknown {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return (name, text) => {
    const property = isJsonObject(properties) ? properties[name] : undefined;
    const types = typesOf(property);
    if (types.length === 0 || types.includes('string')) return text;
    for (const type of types) {
      const value = CONVERSIONS[type]?.(text);
      if (value !== undefined) return value;
    }
    throw new RangeError(`${name} must be of type ${types.join(' or ')}, not ${JSON.stringify(text)}`);
  };
}

/** The types that a schema names itself or in `anyOf` or `oneOf`. Empty if the schema or one of these choices names no type. */
function typesOf(schema: unknown): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { type, anyOf, oneOf } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  if (!Array.isArray(choices)) return [];
  const types = choices.map(typesOf);
  return types.some((each) => each.length === 0) ? [] : types.flat();
}

const finite = (number: number): number | undefined => (Number.isFinite(number) ? number : undefined);

function jsonOf(text: string, isType: (value: unknown) => boolean): unknown {
  const value = tryParseJson(text);
  return isType(value) ? value : undefined;
}
