import { validateSync, type ValidationError } from 'class-validator';
import type { KeyPath, Problems } from '../problems.js';

/** Asks class-validator about every value of a built config, at any depth. */
export function validate(config: object, problems: Problems): void {
  // Neither object nor value belongs in an error: both may hold secrets.
  const options = { stopAtFirstError: true, validationError: { target: false, value: false } };
  report(validateSync(config, options), [], problems);
}

function report(errors: readonly ValidationError[], path: KeyPath, problems: Problems): void {
  for (const { property, constraints = {}, children = [] } of errors) {
    const place = [...path, property];
    for (const message of Object.values(constraints)) problems.add(place, message);
    report(children, place, problems);
  }
}
