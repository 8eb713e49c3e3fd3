import type { KeyPath, ConfigProblems } from '../problems.js';
import { childShape, type Shape } from '../schema/shape.js';
import { interpolate, type Environment } from './interpolate.js';
import { parseVariable } from './document.js';
import type { SecretCollector } from './secret-collector.js';

/** Interpolates environment variables in every value of a document. */
export class VariableResolver {
  constructor(
    private readonly env: Environment,
    private readonly secrets: SecretCollector,
    private readonly problems: ConfigProblems,
  ) {}

  /**
   * Returns a copy without shared objects, which YAML aliases create: an override of one server must not change another.
   * Values of unknown keys are returned unchanged, which also ends the recursion of a circular alias.
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
      this.secrets.collect(shape, this.env[variable]);
    }
    const value = parseVariable(shape, text);
    // The text of a variable may be a whole list or mapping in YAML.
    if (used.length > 0 && typeof value === 'object') this.secrets.collect(shape, value);
    return value;
  }
}
