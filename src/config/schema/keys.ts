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

/**
 * Decorators that declare a key: its description, its shape, and the class-validator rules of its value. A key without
 * `missing` is optional, and its property initializer is the default.
 */
interface Presence {
  readonly missing?: string;
}

interface TextOptions extends Presence {
  readonly rule?: TextRule;
  /** True when a value from the environment is not a secret here. */
  readonly open?: boolean;
}

export function Text(description: string, options: TextOptions = {}): PropertyDecorator {
  const { pattern, requirement } = options.rule ?? { pattern: /./s, requirement: 'must not be empty' };
  return key(description, textShape(options), options, Matches(pattern, { message: requirement }));
}

export function Integer(min: number, max: number, description: string): PropertyDecorator {
  const message = `must be a whole number from ${min} to ${max}`;
  return key(description, { kind: 'whole', min, max }, {}, Min(min, { message }), Max(max, { message }));
}

export function Flag(description: string): PropertyDecorator {
  return key(description, { kind: 'flag' }, {});
}

export function Choice(
  values: readonly string[],
  description: string,
  aliases: Readonly<Record<string, string>> = {},
): PropertyDecorator {
  const message = values.length === 1 ? `must be ${values[0]} here` : `must be one of ${values.join(', ')}`;
  const shape: Shape = { kind: 'choice', values, aliases: new Map(Object.entries(aliases)) };
  return key(description, shape, {}, IsIn([...values], { message }));
}

export function TextList(description: string, options: TextOptions = {}): PropertyDecorator {
  const { rule } = options;
  const rules = rule
    ? [Matches(rule.pattern, { each: true, message: `every item ${rule.requirement}` })]
    : [];
  return key(description, { kind: 'list', items: textShape(options) }, options, ...rules);
}

export function TextRecord(
  names: TextRule,
  description: string,
  options: TextOptions = {},
): PropertyDecorator {
  const rules = options.rule ? [EveryValue(options.rule)] : [];
  return key(description, { kind: 'record', names, values: textShape(options) }, options, ...rules);
}

function EveryValue({ pattern, requirement }: TextRule): PropertyDecorator {
  const invalidName = (record: Record<string, string>): string | undefined =>
    Object.keys(record).find((name) => !pattern.test(record[name] ?? ''));
  return Rule<Record<string, string>>(
    'everyValue',
    (record) => invalidName(record) === undefined,
    (record) => `the value of \`${invalidName(record)}\` ${requirement}`,
  );
}

export function Section(type: SectionType, description: string): PropertyDecorator {
  return key(description, sectionOf(type), {}, ValidateNested());
}

export function SectionList(type: SectionType, description: string): PropertyDecorator {
  return key(description, { kind: 'list', items: sectionOf(type) }, {}, ValidateNested());
}

/** A mapping from user-defined names to sections; `collect` converts it to the value of the property. */
export function SectionRecord(
  names: TextRule,
  values: SectionShape,
  collect: (entries: ReadonlyMap<string, object>) => object,
  description: string,
): PropertyDecorator {
  return key(description, { kind: 'entries', names, values, collect }, {}, ValidateNested());
}

const textShape = ({ rule, open = false }: TextOptions): TextShape => ({ kind: 'text', rule, open });

function key(
  description: string,
  shape: Shape,
  { missing }: Presence,
  ...rules: PropertyDecorator[]
): PropertyDecorator {
  const presence = missing === undefined ? IsOptional() : IsDefined({ message: missing });
  return (prototype, property) => {
    declareKey(prototype, String(property), { description, shape, missing });
    for (const rule of [presence, ...rules]) rule(prototype, property);
  };
}
