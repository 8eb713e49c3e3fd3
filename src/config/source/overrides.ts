import type { Problems } from '../problems.js';
import type { Shape } from '../schema/shape.js';
import type { Document } from './document.js';
import type { Environment } from './interpolate.js';
import { locate } from './locate.js';
import { readAs } from './read-as.js';
import type { Secrets } from './secrets.js';

const PREFIX = 'GATEHOUSE__';

/**
 * `GATEHOUSE__HTTP__PORT=0` sets http.port in the document, and likewise for any other key. The value is YAML,
 * or simply the text where the key holds text. Outer keys go first, so that a whole mapping and a part of it
 * can both be given.
 */
export function applyOverrides(
  document: Document,
  root: Shape,
  env: Environment,
  secrets: Secrets,
  problems: Problems,
): void {
  const overrides = Object.keys(env)
    .filter((variable) => variable.startsWith(PREFIX))
    .map((variable) => ({ variable, segments: variable.slice(PREFIX.length).split('__') }))
    .toSorted((a, b) => a.segments.length - b.segments.length || (a.variable < b.variable ? -1 : 1));
  for (const { variable, segments } of overrides) {
    const located = locate(segments, root, document);
    if ('problem' in located) {
      problems.add(variable, located.problem);
      continue;
    }
    const value = readAs(located.shape, env[variable] ?? '');
    secrets.remember(located.shape, value);
    problems.replaced(located.path, variable);
    put(document, located.path, value);
  }
}

function put(document: Document, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    document.set(name, value);
    return;
  }
  const below = document.get(name) ?? new Map<string, unknown>();
  document.set(name, below);
  // Where the file has something else than a mapping, building says so.
  if (below instanceof Map) put(below as Document, rest, value);
}
