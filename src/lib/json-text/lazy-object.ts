/**
 * An object whose members are parsed when they are read. It cannot be changed. `parse` returns undefined for a key that the
 * object does not have. `keys` may return a key several times.
 */
export function lazyObject(parse: (key: string) => unknown, keys: () => Iterable<string>): object {
  const values = new Map<string, unknown>();
  const read = (key: string | symbol): unknown => {
    if (typeof key === 'symbol') return undefined;
    if (!values.has(key)) values.set(key, parse(key));
    return values.get(key);
  };
  const handler: ProxyHandler<object> = {
    get(target, key) {
      const value = read(key);
      return value === undefined ? (Reflect.get(target, key) as unknown) : value;
    },
    has: (_, key) => read(key) !== undefined,
    set: () => false,
    deleteProperty: () => false,
    ownKeys: () => [...new Set(keys())],
    getOwnPropertyDescriptor(_, key) {
      const value = read(key);
      return value === undefined ? undefined : { value, enumerable: true, configurable: true };
    },
  };
  return new Proxy({}, handler);
}
