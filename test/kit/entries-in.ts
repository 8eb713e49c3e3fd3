/** How many entries all collections have that can be reached. */
export function entriesIn(thing: unknown, seen = new Set<unknown>()): number {
  if (typeof thing !== 'object' || thing === null || seen.has(thing)) return 0;
  seen.add(thing);
  const isCollection = thing instanceof Map || thing instanceof Set;
  const inside: unknown[] = isCollection ? [...thing.values()] : Object.values(thing);
  return inside.reduce<number>((sum, each) => sum + entriesIn(each, seen), isCollection ? thing.size : 0);
}
