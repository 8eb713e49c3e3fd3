import { validateSync, type ValidationError } from 'class-validator';
import type { KeyPath, ConfigProblems } from '../problems.js';

/** Validates a configuration and its sections at every depth with class-validator, and reports all problems. */
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
    const itemPath = pathOf(property, parent, path);
    for (const message of Object.values(constraints)) problems.add(itemPath, message);
    report(children, childOf(parent, property), itemPath, problems);
  }
}

/**
 * class-validator gives the index of a list item as text. It gives no property for the placeholder `{}` of an invalid item;
 * `path` is then the path of that item.
 */
function pathOf(property: string | undefined, parent: unknown, path: KeyPath): KeyPath {
  if (property === undefined) return path;
  return [...path, Array.isArray(parent) ? Number(property) : property];
}

const childOf = (parent: unknown, property: string): unknown =>
  parent instanceof Map ? parent.get(property) : Reflect.get(parent as object, property);
