import type { FieldError } from './admin-problem.js';

/** The text in place of a secret in responses. In a request, it means that the stored value is kept. */
export const MASK = '********';

export const NOT_STORED = 'is masked, and no value is stored';

/**
 * Replaces masked arguments of a request by the stored ones. `shownForms` are the stored arguments as they are shown to
 * each role that may read them. An argument that cannot be restored is added to `errors`.
 *
 * A masked argument is looked up in the shown forms by its text together with the argument before it, usually the name of
 * an option, so that a request may add and remove other arguments. If this fails and the number of arguments is unchanged,
 * the argument is looked up by its position.
 */
export function restoreArgs(
  sent: readonly unknown[],
  stored: readonly string[],
  shownForms: readonly (readonly string[])[],
  errors: FieldError[],
): unknown[] {
  const sentByPair = maskedPositions(sent);
  const forms = shownForms.map((args) => ({ args, shownByPair: maskedPositions(args) }));
  return sent.map((arg, index) => {
    if (typeof arg !== 'string' || !arg.includes(MASK)) return arg;
    const pair = pairAt(sent, index);
    const sentPositions = sentByPair.get(pair)!;
    for (const { args, shownByPair } of forms) {
      const shownPositions = shownByPair.get(pair);
      // Equal pairs are restored in their order, and only if none was added or removed.
      if (shownPositions?.length === sentPositions.length)
        return stored[shownPositions[sentPositions.indexOf(index)]!];
      if (args.length === sent.length && args[index] === arg) return stored[index];
    }
    errors.push({ field: `args[${index}]`, message: `${NOT_STORED}; send the value itself` });
    return arg;
  });
}

/** An argument and the one before it, as a key of a map. */
const pairAt = (args: readonly unknown[], index: number): string =>
  JSON.stringify([args[index - 1] ?? null, args[index]]);

/** The positions of masked arguments, grouped by the key from `pairAt`. */
function maskedPositions(args: readonly unknown[]): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, arg] of args.entries()) {
    if (typeof arg !== 'string' || !arg.includes(MASK)) continue;
    const pair = pairAt(args, index);
    const ofPair = positions.get(pair);
    if (ofPair) ofPair.push(index);
    else positions.set(pair, [index]);
  }
  return positions;
}
