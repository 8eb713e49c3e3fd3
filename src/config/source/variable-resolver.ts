import type { KeyPath, ConfigProblems } from '../problems.js';
import { childShape, type Shape } from '../schema/shape.js';
import { interpolate, type Environment } from './interpolate.js';
import { parseForShape } from './document.js';
import type { SecretCollector } from './secret-collector.js';

/** Interpolates environment variables in every value of a document. */
export class VariableResolver {
  constructor(
    private readonly env: Environment,
    private readonly secrets: SecretCollector,
    private readonly problems: ConfigProblems,
  ) {}

  /**
   * Returns a copy of the value with its variables interpolated. YAML aliases may share an object between keys. The copy
   * shares none, because an override of one server must not change another one. Values of unknown keys are returned
   * unchanged, so the recursion ends even for a circular alias: known keys have a limited depth.
   */
  resolve(value: unknown, shape: Shape | undefined, path: KeyPath = []): unknown {
    if (!shape) return value;
    if (typeof value === 'string') return this.resolveText(value, shape, path);
    if (value instanceof Map) {
      const entries = [...(value as Map<string, unknown>)];
      return new Map(
        entries.map(([name, item]) => [name, this.resolve(item, childShape(shape, name), [...path, name])]),
      );
    }
    if (!Array.isArray(value) || shape.kind !== 'list') return value;
    return value.map((item, index) => this.resolve(item, shape.items, [...path, index]));
  }

  private resolveText(written: string, shape: Shape, path: KeyPath): unknown {
    const { text, used, problems } = interpolate(written, this.env);
    for (const problem of problems) this.problems.add(path, problem);
    if (text === written) return written;
    for (const variable of used) {
      this.problems.recordSource(path, `\${${variable}}`);
      this.secrets.collect(shape, this.env[variable], [variable, lastName(path)]);
    }
    const value = parseForShape(shape, text);
    // The text may be a whole YAML list or mapping, in which every string may be a secret.
    if (used.length > 0 && typeof value === 'object')
      this.secrets.collect(shape, value, [...used, lastName(path)]);
    return value;
  }
}

const lastName = (path: KeyPath): string => path.findLast((key) => typeof key === 'string') ?? '';
