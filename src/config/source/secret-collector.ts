import { isSecretValue } from '../../lib/secrets/secret-value.js';
import { childShape, type Shape } from '../schema/shape.js';

/** Collects values from the environment that must not appear in logs. */
export class SecretCollector {
  private readonly values = new Set<string>();

  /**
   * Collects the secrets in `value`. Values of public keys, numbers, flags and choices are never secrets. `names` are the
   * names of the environment variable and of the key, which help to recognise a secret.
   */
  collect(shape: Shape | undefined, value: unknown, names: readonly string[]): void {
    if (!shape) return;
    if (value instanceof Map) {
      for (const [name, item] of value as Map<string, unknown>)
        this.collect(childShape(shape, name), item, [...names, name]);
    } else if (Array.isArray(value)) {
      for (const item of value) this.collect(shape.kind === 'list' ? shape.items : undefined, item, names);
    } else if (typeof value === 'string' && isConfidential(shape) && isSecretValue(value, names)) {
      this.values.add(value);
    }
  }

  list(): string[] {
    return [...this.values];
  }
}

function isConfidential(shape: Shape): boolean {
  return shape.kind === 'text' && !shape.mayBeLogged;
}
