import { shapeBelow, type Shape } from '../schema/shape.js';

/** Shorter values would black out half of every log line, and are no secrets worth the name. */
const SHORTEST_SECRET = 6;

/** Values that came from the environment and must not appear in logs. */
export class Secrets {
  private readonly values = new Set<string>();

  /** Remembers the text in `value` unless its key is open; numbers, flags and choices are none. */
  remember(shape: Shape | undefined, value: unknown): void {
    if (!shape) return;
    if (value instanceof Map) {
      for (const [name, item] of value as Map<string, unknown>) this.remember(shapeBelow(shape, name), item);
    } else if (Array.isArray(value)) {
      for (const item of value) this.remember(shape.kind === 'list' ? shape.items : undefined, item);
    } else if (typeof value === 'string' && isConfidential(shape) && value.length >= SHORTEST_SECRET) {
      this.values.add(value);
    }
  }

  list(): string[] {
    return [...this.values];
  }
}

function isConfidential(shape: Shape): boolean {
  return shape.kind === 'text' && !shape.open;
}
