import type { ConfigProblems } from '../problems.js';
import type { Shape } from '../schema/shape.js';
import { parseForShape, type ConfigDocument } from './document.js';
import type { Environment } from './interpolate.js';
import { locate } from './locate.js';
import type { SecretCollector } from './secret-collector.js';

const PREFIX = 'GATEHOUSE__';

/**
 * Applies overrides from environment variables: `GATEHOUSE__HTTP__PORT=0` sets http.port. The value is YAML, or a plain
 * string for text keys. A mapping is applied before its keys, so that one variable can set a mapping and another one a key
 * in it.
 */
export function applyOverrides(
  document: ConfigDocument,
  root: Shape,
  env: Environment,
  secrets: SecretCollector,
  problems: ConfigProblems,
): void {
  const overrides = Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX))
    .map((variable) => ({ variable, segments: variable.slice(PREFIX.length).split('__') }))
    .toSorted((a, b) => a.segments.length - b.segments.length || compareText(a.variable, b.variable));
  for (const { variable, segments } of overrides) {
    const located = locate(segments, root, document);
    if ('problem' in located) {
      problems.add(variable, located.problem);
      continue;
    }
    const value = parseForShape(located.shape, env[variable] ?? '');
    secrets.collect(located.shape, value, [located.path.at(-1) ?? '']);
    problems.recordOverride(located.path, variable);
    setValue(document, located.path, value);
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : 1);

/** Sets the value at a path. Adds missing mappings on the path. */
function setValue(document: ConfigDocument, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    document.set(name, value);
    return;
  }
  const child = document.get(name) ?? new Map<string, unknown>();
  document.set(name, child);
  // A value that is not a mapping is reported when the configuration is built.
  if (child instanceof Map) setValue(child as ConfigDocument, rest, value);
}
