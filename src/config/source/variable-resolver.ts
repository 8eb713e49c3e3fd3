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
   * Returns a copy of the value with its variables interpolated. With a YAML alias, two keys have the same Map or array
   * as value. In the copy, each known key has its own, because an override of one server must not change another one. A
   * circular alias does not cause endless recursion: known keys have a limited depth, and values of unknown keys are
   * returned unchanged.
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

  private resolveText(rawText: string, shape: Shape, path: KeyPath): unknown {
    const { text, usedVariables, problems } = interpolate(rawText, this.env);
    for (const problem of problems) this.problems.add(path, problem);
    if (text === rawText) return rawText;
    for (const variable of usedVariables) {
      this.problems.recordSource(path, `\${${variable}}`);
      this.secrets.collect(shape, this.env[variable], [variable, lastName(path)]);
    }
    const value = parseForShape(shape, text);
    // The text may be a whole YAML list or mapping, in which every string may be a secret.
    if (usedVariables.length > 0 && typeof value === 'object')
      this.secrets.collect(shape, value, [...usedVariables, lastName(path)]);
    return value;
  }
}

const lastName = (path: KeyPath): string => path.findLast((key) => typeof key === 'string') ?? '';
