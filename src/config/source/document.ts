import { isMap, LineCounter, parseDocument as parseYaml, type YAMLError } from 'yaml';
import type { ConfigProblems } from '../problems.js';
import type { Shape } from '../schema/shape.js';
import { withoutJsonComments } from './json-comments.js';

/**
 * A parsed file. Mappings are Maps at every depth: a Map keeps the order of the file and has `__proto__` as an ordinary
 * key.
 */
export type ConfigDocument = Map<string, unknown>;

/** Keys are always strings, a duplicate key is an error, and `yes` is a string. */
const YAML = { schema: 'core', stringKeys: true, uniqueKeys: true, prettyErrors: false } as const;

/** Parses YAML or JSON. Returns undefined and reports a problem when the text is not a mapping. */
export function parseConfigDocument(
  text: string,
  source: string,
  problems: ConfigProblems,
): ConfigDocument | undefined {
  const lines = new LineCounter();
  const document = parseYaml(withoutJsonComments(text), { ...YAML, lineCounter: lines });
  const errors = [...document.errors, ...document.warnings];
  for (const error of withoutConsequences(errors)) {
    const { line, col } = lines.linePos(error.pos[0]);
    problems.add(`${source}:${line}:${col}`, describe(error, text.split('\n')[line - 1] ?? ''));
  }
  if (errors.length > 0) return undefined;
  if (document.contents === null) problems.add(source, 'is empty; write {} to start with the defaults');
  else if (!isMap(document.contents)) problems.add(source, 'must be a mapping at the top');
  if (!isMap(document.contents)) return undefined;
  try {
    return document.toJS({ mapAsMap: true }) as ConfigDocument;
  } catch (error) {
    problems.add(source, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** The readable part of a file with syntax errors. Undefined when that part is not a mapping. */
export function parseDamagedDocument(text: string): ConfigDocument | undefined {
  try {
    const document = parseYaml(withoutJsonComments(text), YAML);
    return isMap(document.contents) ? (document.toJS({ mapAsMap: true }) as ConfigDocument) : undefined;
  } catch {
    return undefined;
  }
}

/** The value of a text from the environment: the text itself for text keys and choices, the parsed YAML for other keys. */
export function parseForShape(shape: Shape, text: string): unknown {
  return shape.kind === 'text' || shape.kind === 'choice' ? text : parseValue(text);
}

/** Parses a single value from an environment variable. Invalid YAML is read as a string. */
export function parseValue(text: string): unknown {
  try {
    const document = parseYaml(text, YAML);
    return document.errors.length > 0 ? text : document.toJS({ mapAsMap: true });
  } catch {
    return text;
  }
}

/** All duplicate keys, and the first error of another kind: later errors are usually consequences of that one. */
function withoutConsequences(errors: readonly YAMLError[]): YAMLError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === first || error.code === 'DUPLICATE_KEY');
}

function describe(error: YAMLError, line: string): string {
  if (error.code === 'DUPLICATE_KEY') return 'duplicate key';
  if (error.code === 'MULTIPLE_DOCS') return 'a second document starts here; there may be only one';
  const isUnquotedReference = error.code === 'UNEXPECTED_TOKEN' && line.includes('${');
  return isUnquotedReference ? `${error.message}; inside { } and [ ] put \${…} in quotes` : error.message;
}
