/** Class of one mapping of the configuration. Its property initializers are the defaults. */
export type SectionType = new () => object;

/** Pattern of a text, and the message for a text that does not match. */
export interface TextRule {
  readonly pattern: RegExp;
  readonly requirement: string;
}

/** Names that are special on every JavaScript object. No mapping may use them. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export interface TextShape {
  readonly kind: 'text';
  readonly rule: TextRule | undefined;
  /** Whether a value from an environment variable may appear in logs, because it is not a secret. */
  readonly mayBeLogged: boolean;
}

interface ChoiceShape {
  readonly kind: 'choice';
  readonly values: readonly string[];
  /** Other words that MCP clients use, each with the value that it means. */
  readonly aliases: ReadonlyMap<string, string>;
}

export interface SectionShape {
  readonly kind: 'section';
  /** The forms of the mapping: one, or several that exclude each other. */
  readonly types: readonly SectionType[];
  /** Selects the form by the keys of the mapping and their values. */
  readonly choose: (mapping: ReadonlyMap<string, unknown>) => SectionType;
  /** Keys of other programs that the gateway does not have, each with the problem that is reported for it. */
  readonly foreignKeys?: ReadonlyMap<string, string>;
  /** Keys of other programs that are translated to a key of this section before it is built. */
  readonly translatedKeys?: ReadonlyMap<string, TranslatedKeyShape>;
}

/** A key of other programs that is translated to a key of the gateway. */
export interface TranslatedKeyShape {
  /** Names of the programs, as text. */
  readonly clients: string;
  /** The end of a sentence about the key: for example ``is read as `url` ``. */
  readonly meaning: string;
  /** The key of the gateway. */
  readonly replaces: string;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ListShape {
  readonly kind: 'list';
  readonly items: TextShape | SectionShape;
  /** Words that are accepted in place of a list. */
  readonly words?: readonly string[];
}

/** Type of a key's value, used for building, overrides and the JSON Schema. */
export type Shape =
  | TextShape
  | ChoiceShape
  | SectionShape
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | ListShape
  | { readonly kind: 'textRecord'; readonly names: TextRule; readonly values: TextShape }
  | {
      readonly kind: 'sectionRecord';
      readonly names: TextRule;
      readonly values: SectionShape;
      readonly collect: (entries: ReadonlyMap<string, object>) => object;
    };

export interface KeyDeclaration {
  readonly description: string;
  readonly shape: Shape;
  /** The problem that is reported if the key is missing; undefined for an optional key. */
  readonly missingMessage: string | undefined;
}

/** The declared keys of each section class, by its prototype. */
const declarations = new WeakMap<object, Map<string, KeyDeclaration>>();

export function declareKey(prototype: object, name: string, key: KeyDeclaration): void {
  const keys = declarations.get(prototype) ?? new Map<string, KeyDeclaration>();
  keys.set(name, key);
  declarations.set(prototype, keys);
}

/** The keys of a section in order of declaration, those of its base class first. */
export function keysOf(type: SectionType): ReadonlyMap<string, KeyDeclaration> {
  const baseFirst: object[] = [];
  let prototype = type.prototype as object | null;
  while (prototype) {
    baseFirst.unshift(prototype);
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  return new Map(baseFirst.flatMap((each) => [...(declarations.get(each) ?? [])]));
}

/** The keys of all forms of a section. */
export function allKeysOf(section: SectionShape): ReadonlyMap<string, KeyDeclaration> {
  return new Map(section.types.flatMap((type) => [...keysOf(type)]));
}

/** The shape of the value under `name`; undefined for an unknown key or a value that is not a mapping. */
export function childShape(shape: Shape, name: string): Shape | undefined {
  if (shape.kind === 'section') return allKeysOf(shape).get(name)?.shape;
  return shape.kind === 'sectionRecord' || shape.kind === 'textRecord' ? shape.values : undefined;
}

export const sectionOf = (type: SectionType): SectionShape => ({
  kind: 'section',
  types: [type],
  choose: () => type,
});
