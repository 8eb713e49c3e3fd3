/** Freezes a value and everything it references. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const inside: Iterable<unknown> = value instanceof Map ? value.values() : Object.values(value);
  for (const item of inside) deepFreeze(item);
  return value;
}
