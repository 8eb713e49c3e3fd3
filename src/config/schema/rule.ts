import { ValidateBy, type ValidationArguments } from 'class-validator';

/**
 * Custom class-validator rule. `section` is the object that contains the value, so that a rule can compare keys. The
 * decorator is written above the decorator of its key, whose own rules then run first.
 */
export function Rule<Value>(
  name: string,
  holds: (value: Value, section: object) => boolean,
  requirement: string | ((value: Value) => string),
): PropertyDecorator {
  const validator = {
    validate: (value: unknown, args?: ValidationArguments) => holds(value as Value, args?.object ?? {}),
    defaultMessage: (args?: ValidationArguments) =>
      typeof requirement === 'string' ? requirement : requirement(args?.value as Value),
  };
  return ValidateBy({ name, validator });
}
