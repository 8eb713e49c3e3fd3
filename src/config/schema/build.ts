import type { KeyPath, ConfigProblems } from '../problems.js';
import { unknownKey } from './suggest.js';
import {
  allKeysOf,
  keysOf,
  RESERVED_NAMES,
  type SectionShape,
  type SectionType,
  type Shape,
  type ListShape,
  type TextRule,
} from './shape.js';

/**
 * Creates instances of the section classes from a parsed document, whose mappings are Maps. Every property of the result
 * has the type that its class declares: a value of another type is reported, and the default takes its place. The values
 * themselves are checked later, by class-validator.
 */
export function build(
  section: SectionShape,
  document: ReadonlyMap<string, unknown>,
  problems: ConfigProblems,
): object {
  return new Builder(problems).buildSection(section, document, []);
}

class Builder {
  constructor(private readonly problems: ConfigProblems) {}

  buildSection(shape: SectionShape, mapping: ReadonlyMap<string, unknown>, path: KeyPath): object {
    const type = shape.choose(mapping);
    const keys = keysOf(type);
    const section = new type();
    for (const [name, item] of mapping) {
      const itemPath = [...path, name];
      const key = keys.get(name);
      const built = key
        ? this.buildValue(key.shape, item, itemPath)
        : this.report(itemPath, unknownKeyMessage(name, type, shape));
      if (built !== undefined) Reflect.set(section, name, built);
    }
    return section;
  }

  private buildValue(shape: Shape, value: unknown, path: KeyPath): unknown {
    switch (shape.kind) {
      case 'section': {
        const mapping = this.requireMapping(value, path);
        return mapping && this.buildSection(shape, mapping, path);
      }
      case 'sectionRecord': {
        const entries = this.buildEntries<object>(shape, value, path);
        return entries && shape.collect(entries);
      }
      case 'textRecord': {
        const texts = this.buildEntries<string>(shape, value, path);
        return texts && Object.fromEntries(texts);
      }
      case 'list':
        return this.buildList(shape, value, path);
      case 'integer':
        return Number.isSafeInteger(value) ? value : this.report(path, mustBe('a whole number', value));
      case 'flag':
        return typeof value === 'boolean' ? value : this.report(path, mustBe('true or false', value));
      case 'choice':
        return shape.aliases.get(value as string) ?? this.buildText(choiceText(value, shape.values), path);
      default:
        return this.buildText(value, path);
    }
  }

  private buildEntries<T>(
    { names, values }: { readonly names: TextRule; readonly values: Shape },
    value: unknown,
    path: KeyPath,
  ): Map<string, T> | undefined {
    const mapping = this.requireMapping(value, path);
    if (!mapping) return undefined;
    const entries = new Map<string, T>();
    for (const [name, item] of mapping) {
      const itemPath = [...path, name];
      if (RESERVED_NAMES.includes(name)) this.report(itemPath, 'this name is reserved');
      else if (!names.pattern.test(name)) this.report(itemPath, names.requirement);
      const built = this.buildValue(values, item, itemPath);
      if (built !== undefined) entries.set(name, built as T);
    }
    return entries;
  }

  /** A placeholder takes the place of an invalid item, so that the items after it keep their index in later problems. */
  private buildList({ items, words = [] }: ListShape, value: unknown, path: KeyPath): unknown {
    if (words.some((word) => word === value)) return value;
    if (!Array.isArray(value)) return this.report(path, mustBe([...words, 'a list'].join(' or '), value));
    const placeholder = items.kind === 'section' ? {} : '';
    return value.map((item, index) => this.buildValue(items, item, [...path, index]) ?? placeholder);
  }

  private buildText(value: unknown, path: KeyPath): string | undefined {
    if (typeof value === 'string') return value;
    const quotes = typeof value === 'number' || typeof value === 'boolean' ? '; put it in quotes' : '';
    return this.report(path, `${mustBe('text', value)}${quotes}`);
  }

  /** Null counts as an empty mapping, because YAML reads a section as null when all its keys are commented out. */
  private requireMapping(value: unknown, path: KeyPath): ReadonlyMap<string, unknown> | undefined {
    if (value instanceof Map) return value as ReadonlyMap<string, unknown>;
    return value === null ? new Map() : this.report(path, mustBe('a mapping', value));
  }

  /** Adds a problem. Returns undefined in place of the value that cannot be built. */
  private report(path: KeyPath, message: string): undefined {
    this.problems.add(path, message);
  }
}

/** YAML reads a choice such as 2025 as a number. */
const choiceText = (value: unknown, choices: readonly string[]): unknown =>
  typeof value === 'number' && choices.includes(String(value)) ? String(value) : value;

/** The message does not quote the value, because the value may be a secret under the wrong key. */
function mustBe(expected: string, value: unknown): string {
  return `must be ${expected}, but is ${kindOf(value)}`;
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
  const keysOfAllForms = allKeysOf(shape);
  if (keysOfAllForms.has(name)) {
    const [requiredKey] = [...keysOf(type)].find(([, key]) => key.missingMessage !== undefined) ?? [];
    return `cannot be combined with \`${requiredKey}\``;
  }
  return shape.foreignKeys?.get(name) ?? unknownKey(name, [...keysOfAllForms.keys()]);
}
