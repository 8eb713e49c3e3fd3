import { IsDefined, IsIn, IsOptional, Matches, Max, Min, ValidateNested } from 'class-validator';
import { Rule } from './rule.js';
import {
  declareKey,
  sectionOf,
  type SectionShape,
  type SectionType,
  type Shape,
  type TextRule,
  type TextShape,
} from './shape.js';

/*
 * Decorators that declare a key of the configuration: its description, its shape, and the class-validator rules of its
 * value. The initializer of the property is the default.
 */

interface Presence {
  /** The problem that is reported if the key is missing. The key is optional if this is undefined. */
  readonly missingMessage?: string;
}

interface TextOptions extends Presence {
  readonly rule?: TextRule;
  /** Whether a value from an environment variable may appear in logs. By default, such a value is treated as a secret. */
  readonly mayBeLogged?: boolean;
}

export function Text(description: string, options: TextOptions = {}): PropertyDecorator {
  const { pattern, requirement } = options.rule ?? { pattern: /./s, requirement: 'must not be empty' };
  return keyDecorator(description, textShape(options), options, Matches(pattern, { message: requirement }));
}

export function Integer(min: number, max: number, description: string): PropertyDecorator {
  const message = `must be a whole number from ${min} to ${max}`;
  return keyDecorator(
    description,
    { kind: 'integer', min, max },
    {},
    Min(min, { message }),
    Max(max, { message }),
  );
}

export function Flag(description: string): PropertyDecorator {
  return keyDecorator(description, { kind: 'flag' }, {});
}

export function Choice(
  values: readonly string[],
  description: string,
  aliases: Readonly<Record<string, string>> = {},
): PropertyDecorator {
  const message = values.length === 1 ? `must be ${values[0]} here` : `must be one of ${values.join(', ')}`;
  const shape: Shape = { kind: 'choice', values, aliases: new Map(Object.entries(aliases)) };
  return keyDecorator(description, shape, {}, IsIn([...values], { message }));
}

interface TextListOptions extends TextOptions {
  /** Words that are accepted in place of a list. */
  readonly words?: readonly string[];
}

export function TextList(description: string, options: TextListOptions = {}): PropertyDecorator {
  const { rule, words = [] } = options;
  const rules = rule
    ? [Matches(rule.pattern, { each: true, message: `every item ${rule.requirement}` })]
    : [];
  return keyDecorator(description, { kind: 'list', items: textShape(options), words }, options, ...rules);
}

export function TextRecord(
  names: TextRule,
  description: string,
  options: TextOptions = {},
): PropertyDecorator {
  const rules = options.rule ? [EveryValue(options.rule)] : [];
  return keyDecorator(
    description,
    { kind: 'textRecord', names, values: textShape(options) },
    options,
    ...rules,
  );
}

function EveryValue({ pattern, requirement }: TextRule): PropertyDecorator {
  const nameOfInvalid = (record: Record<string, string>): string | undefined =>
    Object.keys(record).find((name) => !pattern.test(record[name] ?? ''));
  return Rule<Record<string, string>>(
    'everyValue',
    (record) => nameOfInvalid(record) === undefined,
    (record) => `the value of \`${nameOfInvalid(record)}\` ${requirement}`,
  );
}

export function Section(type: SectionType, description: string): PropertyDecorator {
  return keyDecorator(description, sectionOf(type), {}, ValidateNested());
}

export function SectionList(type: SectionType, description: string): PropertyDecorator {
  return keyDecorator(description, { kind: 'list', items: sectionOf(type) }, {}, ValidateNested());
}

/** Declares a mapping from user-defined names to sections. `collect` converts the mapping to the value of the property. */
export function SectionRecord(
  names: TextRule,
  values: SectionShape,
  collect: (entries: ReadonlyMap<string, object>) => object,
  description: string,
): PropertyDecorator {
  return keyDecorator(description, { kind: 'sectionRecord', names, values, collect }, {}, ValidateNested());
}

const textShape = ({ rule, mayBeLogged = false }: TextOptions): TextShape => ({
  kind: 'text',
  rule,
  mayBeLogged,
});

/** Declares a key, and applies its rules and the rule that it is required or optional. */
function keyDecorator(
  description: string,
  shape: Shape,
  { missingMessage }: Presence,
  ...rules: PropertyDecorator[]
): PropertyDecorator {
  const presence = missingMessage === undefined ? IsOptional() : IsDefined({ message: missingMessage });
  return (prototype, property) => {
    declareKey(prototype, String(property), { description, shape, missingMessage });
    for (const rule of [presence, ...rules]) rule(prototype, property);
  };
}
