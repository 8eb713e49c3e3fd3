import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../lib/json-text/json-value.js';

/** `name=text` or `name:=json`. */
const PAIR = /^([^=:]+)(:?=)(.*)$/s;

/**
 * Parses the arguments of a tool from JSON (literal, `@file`, or `-` for stdin) and from pairs. A pair overrides the
 * member of the same name in the JSON.
 * Throws a RangeError with the reason.
 */
export function parseToolArguments(
  json: string | undefined,
  pairs: readonly string[],
): Record<string, unknown> {
  const args = json === undefined ? {} : { ...parseObject(readJsonText(json)) };
  for (const pair of pairs) {
    const [, name, sign, value] = PAIR.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw new RangeError(`invalid argument ${pair}: use name=text, or name:=json for other types`);
    args[name] = sign === '=' ? value : parseJson(`${name}:=`, value);
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

function parseObject(text: string): JsonObject {
  const value = parseJson('--args', text);
  if (isJsonObject(value)) return value;
  throw new RangeError('--args must be a JSON object, such as {"path":"a.txt"}');
}

function parseJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new RangeError(`${option} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}
