import { GatehouseConfig } from './gatehouse-config.js';
import {
  keysOf,
  RESERVED_NAMES,
  sectionOf,
  type SectionShape,
  type SectionType,
  type Shape,
  type TextRule,
  type TranslatedKeyShape,
} from './schema/shape.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A reference to an environment variable, such as `${PORT}`. The schema accepts it in place of every value with a type, a
 * choice or a pattern. A text without a pattern may contain references anyway.
 */
const REFERENCE = { $ref: '#/$defs/reference' };

/** JSON Schema of the configuration, generated from the declarations with which the gateway validates it. */
export function configJsonSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gatehouse configuration',
    ...schemaOf(sectionOf(GatehouseConfig)),
    $defs: {
      reference: {
        description: 'An environment variable: ${NAME} or ${NAME:-default}.',
        type: 'string',
        pattern: String.raw`\$\{[A-Za-z_]\w*(:-[^}]*)?\}`,
      },
    },
  };
}

/** Content of config/gatehouse.schema.json. */
export const schemaFileText = (): string => `${JSON.stringify(configJsonSchema(), null, 2)}\n`;

function schemaOf(shape: Shape): JsonSchema {
  switch (shape.kind) {
    case 'section':
      return shape.types.length === 1
        ? objectOf(shape.types[0]!)
        : { anyOf: shape.types.map((type) => objectOf(type, shape.translatedKeys)) };
    case 'sectionRecord':
    case 'textRecord':
      return mappingOf(shape.names, schemaOf(shape.values));
    case 'list': {
      const list = { type: 'array', items: schemaOf(shape.items) };
      return shape.words?.length ? { anyOf: [{ enum: shape.words }, list] } : list;
    }
    case 'integer':
      return orReference({ type: 'integer', minimum: shape.min, maximum: shape.max });
    case 'flag':
      return orReference({ type: 'boolean' });
    case 'choice':
      return orReference({ enum: [...shape.values, ...numbersIn(shape.values), ...shape.aliases.keys()] });
    default:
      return shape.rule
        ? orReference({ type: 'string', pattern: shape.rule.pattern.source })
        : { type: 'string' };
  }
}

/** A choice such as 2025 may be written as a number. */
const numbersIn = (values: readonly string[]): number[] =>
  values.filter((value) => /^\d+$/.test(value)).map(Number);

/** The schema of a section with its own keys and the translated keys that replace one of them. */
function objectOf(type: SectionType, translated: SectionShape['translatedKeys'] = new Map()): JsonSchema {
  const keys = [...keysOf(type)];
  const translatedKeys = [...translated].filter(([, { replaces }]) => keysOf(type).has(replaces));
  const defaults = new type();
  const properties = keys.map(([name, { description, shape }]) => {
    return [name, { description, ...schemaOf(shape), ...defaultOf(shape, Reflect.get(defaults, name)) }];
  });
  const required = keys
    .filter(([, { missingMessage }]) => missingMessage !== undefined)
    .map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries([...properties, ...translatedKeys.map(translatedProperty)]) as JsonSchema,
    ...requiredPart(required, translatedKeys),
    additionalProperties: false,
  };
}

type TranslatedEntry = readonly [name: string, key: TranslatedKeyShape];

/** Marked as deprecated, so that editors suggest the key of the gateway. */
const translatedProperty = ([name, { clients, meaning, schema }]: TranslatedEntry): [string, JsonSchema] => [
  name,
  { description: `Key of ${clients}, which ${meaning}.`, ...schema, deprecated: true },
];

/** The part of a schema that says which keys are required. A translated key may stand in place of the key that it replaces. */
function requiredPart(required: readonly string[], translatedKeys: readonly TranslatedEntry[]): JsonSchema {
  const replacing = translatedKeys.filter(([, { replaces }]) => required.includes(replaces));
  if (replacing.length === 0) return required.length > 0 ? { required } : {};
  const names = [...required, ...replacing.map(([name]) => name)];
  return { anyOf: names.map((name) => ({ required: [name] })) };
}

function defaultOf(shape: Shape, value: unknown): JsonSchema {
  const isMapping = shape.kind === 'section' || shape.kind === 'sectionRecord';
  return isMapping || value === undefined ? {} : { default: value };
}

const mappingOf = ({ pattern }: TextRule, values: JsonSchema): JsonSchema => ({
  type: 'object',
  propertyNames: { pattern: pattern.source, not: { enum: RESERVED_NAMES } },
  additionalProperties: values,
});

const orReference = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, REFERENCE] });
