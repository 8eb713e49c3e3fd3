import { isMap, LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { Problems } from '../problems.js';

/** A parsed file. Mappings are Maps at every depth: they keep the order of the file, and no key is special. */
export type Document = Map<string, unknown>;

/** Keys are text whatever they look like, a key that stands twice is an error, and `yes` is text. */
const YAML = { schema: 'core', stringKeys: true, uniqueKeys: true, prettyErrors: false } as const;

/** Reads YAML, and JSON with it. Undefined when the text is not one mapping; the problems then say why. */
export function readDocument(text: string, file: string, problems: Problems): Document | undefined {
  const lines = new LineCounter();
  const document = parseDocument(text, { ...YAML, lineCounter: lines });
  const errors = [...document.errors, ...document.warnings];
  for (const error of worthReporting(errors)) {
    const { line, col } = lines.linePos(error.pos[0]);
    problems.add(`${file}:${line}:${col}`, describe(error, text.split('\n')[line - 1] ?? ''));
  }
  if (errors.length > 0) return undefined;
  if (document.contents === null) problems.add(file, 'is empty; write {} to start with the defaults');
  else if (!isMap(document.contents)) problems.add(file, 'must be a mapping at the top');
  if (!isMap(document.contents)) return undefined;
  try {
    return document.toJS({ mapAsMap: true }) as Document;
  } catch (error) {
    problems.add(file, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** A value on its own, as it stands in an environment variable. Text that is no YAML is simply text. */
export function readValue(text: string): unknown {
  try {
    const document = parseDocument(text, YAML);
    return document.errors.length > 0 ? text : document.toJS({ mapAsMap: true });
  } catch {
    return text;
  }
}

/** Every key that stands twice, but of the rest only the first: one slip makes the parser stumble on and on. */
function worthReporting(errors: readonly YAMLError[]): YAMLError[] {
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY');
  return errors.filter((error) => error === first || error.code === 'DUPLICATE_KEY');
}

function describe(error: YAMLError, line: string): string {
  if (error.code === 'DUPLICATE_KEY') return 'this key stands twice in its mapping';
  if (error.code === 'MULTIPLE_DOCS') return 'a second document starts here; there may be only one';
  const isUnquotedReference = error.code === 'UNEXPECTED_TOKEN' && line.includes('${');
  return isUnquotedReference ? `${error.message}; inside { } and [ ] put \${…} in quotes` : error.message;
}
