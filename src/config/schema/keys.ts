import { IsDefined, IsIn, IsNotEmpty, IsOptional, Matches, Max, Min, ValidateNested } from 'class-validator';
import { Rule } from './rule.js';
import {
  declareKey,
  sectionOf,
  type NameRule,
  type SectionShape,
  type SectionType,
  type Shape,
} from './shape.js';

/**
 * One decorator declares a key: its description, its shape, and the class-validator rules of its value.
 * A key without `missing` may be left out; what its property is initialized with then holds.
 */
interface Presence {
  readonly missing?: string;
}

interface TextOptions extends Presence {
  readonly pattern?: RegExp;
  /** What to say when the pattern does not match. */
  readonly says?: string;
  readonly open?: boolean;
}

export function Text(description: string, options: TextOptions = {}): PropertyDecorator {
  const rule = options.pattern
    ? Matches(options.pattern, { message: options.says ?? '' })
    : IsNotEmpty({ message: 'must not be empty' });
  return key(description, textShape(options), options, rule);
}

export function Whole(min: number, max: number, description: string): PropertyDecorator {
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
  const { pattern, says } = options;
  const shape: Shape = { kind: 'list', items: textShape(options) };
  const rules = pattern ? [Matches(pattern, { each: true, message: `every item ${says}` })] : [];
  return key(description, shape, options, ...rules);
}

export function TextRecord(
  names: NameRule,
  description: string,
  options: TextOptions = {},
): PropertyDecorator {
  const { pattern, says } = options;
  const misfit = (record: Record<string, string>): string | undefined =>
    Object.keys(record).find((name) => !(pattern?.test(record[name] ?? '') ?? true));
  const rule = Rule<Record<string, string>>(
    'values',
    (record) => misfit(record) === undefined,
    (record) => `the value of \`${misfit(record)}\` ${says}`,
  );
  return key(description, { kind: 'record', names, values: textShape(options) }, options, rule);
}

export function Section(type: SectionType, description: string): PropertyDecorator {
  return key(description, sectionOf(type), {}, ValidateNested());
}

/** A mapping from names of the user's choice to sections; `collect` makes the property's value of them. */
export function Entries(
  names: NameRule,
  values: SectionShape,
  collect: (entries: ReadonlyMap<string, object>) => object,
  description: string,
): PropertyDecorator {
  return key(description, { kind: 'entries', names, values, collect }, {}, ValidateNested());
}

const textShape = ({ pattern, open = false }: TextOptions) => ({ kind: 'text', pattern, open }) as const;

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
