import type { FieldError } from './admin-problem.js';

/** Replaces a secret value in responses. A value that is the mask in a request keeps the stored value. */
export const MASK = '********';

export const NOT_STORED = 'is masked, and no value is stored';

/**
 * Replaces masked arguments by the stored ones. A masked argument is found by its text and the argument before it, usually
 * the name of an option, so that arguments may be added and removed. If that fails and the number of arguments is unchanged,
 * it is found by its position. `shown` are the forms in which the stored arguments are shown.
 */
export function restoreArgs(
  sent: readonly unknown[],
  stored: readonly string[],
  shown: readonly (readonly string[])[],
  errors: FieldError[],
): unknown[] {
  const sentPairs = positionsByPair(sent);
  const shownPairs = shown.map(positionsByPair);
  return sent.map((arg, index) => {
    if (typeof arg !== 'string' || !arg.includes(MASK)) return arg;
    const pair = pairAt(sent, index);
    const places = sentPairs.get(pair)!;
    for (const [form, pairs] of shownPairs.entries()) {
      const found = pairs.get(pair);
      // Equal pairs are restored in their order, and only if none was added or removed.
      if (found?.length === places.length) return stored[found[places.indexOf(index)]!];
      if (shown[form]!.length === sent.length && shown[form]![index] === arg) return stored[index];
    }
    errors.push({ field: `args[${index}]`, message: `${NOT_STORED}; send the value itself` });
    return arg;
  });
}

const pairAt = (args: readonly unknown[], index: number): string =>
  JSON.stringify([args[index - 1] ?? null, args[index]]);

/** The positions of masked arguments, by the pair of the argument and the one before it. */
function positionsByPair(args: readonly unknown[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, arg] of args.entries()) {
    if (typeof arg !== 'string' || !arg.includes(MASK)) continue;
    const pair = pairAt(args, index);
    const known = positions.get(pair);
    if (known) known.push(index);
    else positions.set(pair, [index]);
  }
  return positions;
}
