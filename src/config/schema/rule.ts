import { ValidateBy, type ValidationArguments } from 'class-validator';

/**
 * Declares a custom class-validator rule for a key. The second argument of `holds` is the section that contains the value,
 * so that a rule can compare keys. Write this decorator above the decorator of the key: decorators apply from the bottom, so
 * the rules of the key run first, and `holds` is called only for values that satisfy them. The rules inside a section or a list
 * of sections run after `holds`.
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
