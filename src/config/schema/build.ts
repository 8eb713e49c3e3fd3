import type { KeyPath, ConfigProblems } from '../problems.js';
import { unknownKey } from './suggest.js';
import {
  allKeysOf,
  keysOf,
  RESERVED_NAMES,
  type SectionShape,
  type SectionType,
  type Shape,
  type TextRule,
} from './shape.js';

/**
 * Creates instances of the section classes from a parsed document, whose mappings are Maps. Afterwards every property has
 * the type that its class declares; class-validator checks the values. A value of the wrong type is reported and replaced
 * by the default.
 */
export function build(
  section: SectionShape,
  document: ReadonlyMap<string, unknown>,
  problems: ConfigProblems,
): object {
  return new Builder(problems).section(section, document, []);
}

class Builder {
  constructor(private readonly problems: ConfigProblems) {}

  section(shape: SectionShape, given: ReadonlyMap<string, unknown>, path: KeyPath): object {
    const type = shape.choose(given);
    const keys = keysOf(type);
    const section = new type();
    for (const [name, item] of given) {
      const place = [...path, name];
      const key = keys.get(name);
      const built = key
        ? this.value(key.shape, item, place)
        : this.reportMismatch(place, unknownKeyMessage(name, type, shape));
      if (built !== undefined) Reflect.set(section, name, built);
    }
    return section;
  }

  private value(shape: Shape, value: unknown, path: KeyPath): unknown {
    switch (shape.kind) {
      case 'section': {
        const given = this.mapping(value, path);
        return given && this.section(shape, given, path);
      }
      case 'entries': {
        const entries = this.entries<object>(shape, value, path);
        return entries && shape.collect(entries);
      }
      case 'record': {
        const texts = this.entries<string>(shape, value, path);
        return texts && Object.fromEntries(texts);
      }
      case 'list':
        return this.list(shape.items, value, path);
      case 'whole':
        return Number.isSafeInteger(value)
          ? value
          : this.reportMismatch(path, mustBe('a whole number', value));
      case 'flag':
        return typeof value === 'boolean' ? value : this.reportMismatch(path, mustBe('true or false', value));
      case 'choice':
        return shape.aliases.get(value as string) ?? this.text(value, path);
      default:
        return this.text(value, path);
    }
  }

  private entries<T>(
    { names, values }: { readonly names: TextRule; readonly values: Shape },
    value: unknown,
    path: KeyPath,
  ): Map<string, T> | undefined {
    const given = this.mapping(value, path);
    if (!given) return undefined;
    const entries = new Map<string, T>();
    for (const [name, item] of given) {
      const place = [...path, name];
      if (RESERVED_NAMES.includes(name)) this.reportMismatch(place, 'this name is reserved');
      else if (!names.pattern.test(name)) this.reportMismatch(place, names.requirement);
      const built = this.value(values, item, place);
      if (built !== undefined) entries.set(name, built as T);
    }
    return entries;
  }

  /** Reports a value of the wrong type and returns a placeholder, so that later list items keep their index. */
  private list(items: Shape, value: unknown, path: KeyPath): unknown[] | undefined {
    if (!Array.isArray(value)) return this.reportMismatch(path, mustBe('a list', value));
    const blank = items.kind === 'section' ? {} : '';
    return value.map((item, index) => this.value(items, item, [...path, index]) ?? blank);
  }

  private text(value: unknown, path: KeyPath): string | undefined {
    if (typeof value === 'string') return value;
    const quotes = typeof value === 'number' || typeof value === 'boolean' ? '; put it in quotes' : '';
    return this.reportMismatch(path, `${mustBe('text', value)}${quotes}`);
  }

  /** Null counts as an empty mapping: a section whose keys are all commented out. */
  private mapping(value: unknown, path: KeyPath): ReadonlyMap<string, unknown> | undefined {
    if (value instanceof Map) return value as ReadonlyMap<string, unknown>;
    return value === null ? new Map() : this.reportMismatch(path, mustBe('a mapping', value));
  }

  private reportMismatch(path: KeyPath, what: string): undefined {
    this.problems.add(path, what);
  }
}

/** Does not quote the value, which may be a misplaced secret. */
function mustBe(wanted: string, value: unknown): string {
  return `must be ${wanted}, but is ${kindOf(value)}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Map) return 'a mapping';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'a number';
  return typeof value === 'boolean' ? 'true or false' : 'something else';
}

function unknownKeyMessage(name: string, type: SectionType, shape: SectionShape): string {
  const everywhere = allKeysOf(shape);
  if (everywhere.has(name)) {
    const [mark] = [...keysOf(type)].find(([, key]) => key.missing !== undefined) ?? [];
    return `cannot be combined with \`${mark}\``;
  }
  return unknownKey(name, [...everywhere.keys()]);
}
