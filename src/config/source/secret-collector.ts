import { childShape, type Shape } from '../schema/shape.js';

/** Redacting shorter values would make log lines unreadable. */
const MIN_SECRET_LENGTH = 6;

/** Collects values from the environment that must not appear in logs. */
export class SecretCollector {
  private readonly values = new Set<string>();

  /** Collects the strings in `value` unless its key is public. Numbers, flags and choices are not collected. */
  collect(shape: Shape | undefined, value: unknown): void {
    if (!shape) return;
    if (value instanceof Map) {
      for (const [name, item] of value as Map<string, unknown>) this.collect(childShape(shape, name), item);
    } else if (Array.isArray(value)) {
      for (const item of value) this.collect(shape.kind === 'list' ? shape.items : undefined, item);
    } else if (typeof value === 'string' && isConfidential(shape) && value.length >= MIN_SECRET_LENGTH) {
      this.values.add(value);
    }
  }

  list(): string[] {
    return [...this.values];
  }
}

function isConfidential(shape: Shape): boolean {
  return shape.kind === 'text' && !shape.isPublic;
}
