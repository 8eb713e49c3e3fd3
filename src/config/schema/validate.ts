import { validateSync, type ValidationError } from 'class-validator';
import type { KeyPath, Problems } from '../problems.js';

/** Asks class-validator about every value of a built config, at any depth. */
export function validate(config: object, problems: Problems): void {
  // Neither object nor value belongs in an error: both may hold secrets.
  const options = { stopAtFirstError: true, validationError: { target: false, value: false } };
  report(validateSync(config, options), config, [], problems);
}

function report(
  errors: readonly ValidationError[],
  parent: unknown,
  path: KeyPath,
  problems: Problems,
): void {
  for (const { property, constraints = {}, children = [] } of errors) {
    const place = placeOf(property, parent, path);
    for (const message of Object.values(constraints)) problems.add(place, message);
    report(children, below(parent, property), place, problems);
  }
}

/** class-validator names the items of a list like keys, and has no name for an item that is no section at all. */
function placeOf(property: string | undefined, parent: unknown, path: KeyPath): KeyPath {
  if (property === undefined) return path;
  return [...path, Array.isArray(parent) ? Number(property) : property];
}

const below = (parent: unknown, property: string): unknown =>
  parent instanceof Map ? parent.get(property) : Reflect.get(parent as object, property);
