import type { KeyPath, Problems } from '../problems.js';
import { shapeBelow, type Shape } from '../schema/shape.js';
import { interpolate, type Environment } from './interpolate.js';
import { readAs } from './read-as.js';
import type { Secrets } from './secrets.js';

/** Puts the variables into every value of a document. */
export class References {
  constructor(
    private readonly env: Environment,
    private readonly secrets: Secrets,
    private readonly problems: Problems,
  ) {}

  /**
   * Returns a copy with nothing shared in it, although YAML aliases share: a later change of one server must not
   * reach another. What the shape does not know is left as it is, which also ends the walk of a circular alias.
   */
  resolve(value: unknown, shape: Shape | undefined, path: KeyPath = []): unknown {
    if (!shape) return value;
    if (typeof value === 'string') return this.text(value, shape, path);
    if (value instanceof Map) {
      const entries = [...(value as Map<string, unknown>)];
      return new Map(
        entries.map(([name, item]) => [name, this.resolve(item, shapeBelow(shape, name), [...path, name])]),
      );
    }
    if (!Array.isArray(value) || shape.kind !== 'list') return value;
    return value.map((item, index) => this.resolve(item, shape.items, [...path, index]));
  }

  private text(written: string, shape: Shape, path: KeyPath): unknown {
    const { text, used, problems } = interpolate(written, this.env);
    for (const problem of problems) this.problems.add(path, problem);
    if (text === written) return written;
    for (const variable of used) {
      this.problems.attribute(path, `\${${variable}}`);
      this.secrets.remember(shape, this.env[variable]);
    }
    const value = readAs(shape, text);
    if (used.length > 0 && typeof value === 'object') this.secrets.remember(shape, value);
    return value;
  }
}
