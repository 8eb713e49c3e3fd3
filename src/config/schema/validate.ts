import { validateSync, type ValidationError } from 'class-validator';
import type { KeyPath, ConfigProblems } from '../problems.js';

/** Validates a built configuration with class-validator, at any depth. */
export function validate(config: object, problems: ConfigProblems): void {
  // Errors must contain neither the object nor the value, which may be secrets.
  const options = { stopAtFirstError: true, validationError: { target: false, value: false } };
  report(validateSync(config, options), config, [], problems);
}

function report(
  errors: readonly ValidationError[],
  parent: unknown,
  path: KeyPath,
  problems: ConfigProblems,
): void {
  for (const { property, constraints = {}, children = [] } of errors) {
    const place = placeOf(property, parent, path);
    for (const message of Object.values(constraints)) problems.add(place, message);
    report(children, below(parent, property), place, problems);
  }
}

/** class-validator names list items like keys, and does not name an item that is not a section. */
function placeOf(property: string | undefined, parent: unknown, path: KeyPath): KeyPath {
  if (property === undefined) return path;
  return [...path, Array.isArray(parent) ? Number(property) : property];
}

const below = (parent: unknown, property: string): unknown =>
  parent instanceof Map ? parent.get(property) : Reflect.get(parent as object, property);
