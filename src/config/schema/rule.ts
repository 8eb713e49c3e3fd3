import { ValidateBy, type ValidationArguments } from 'class-validator';

/**
 * A rule of our own in class-validator's terms. `section` is the object the value stands in, so that a rule
 * can look at the keys beside it. Stands above the decorator of its key, whose own rules then come first.
 */
export function Rule<Value>(
  name: string,
  holds: (value: Value, section: object) => boolean,
  says: string | ((value: Value) => string),
): PropertyDecorator {
  const validator = {
    validate: (value: unknown, args?: ValidationArguments) => holds(value as Value, args?.object ?? {}),
    defaultMessage: (args?: ValidationArguments) =>
      typeof says === 'string' ? says : says(args?.value as Value),
  };
  return ValidateBy({ name, validator });
}
