/** A class whose instances hold one mapping of the config. Its property initializers are the defaults. */
export type SectionType = new () => object;

/** What a text looks like, and the words for one that does not. */
export interface TextRule {
  readonly pattern: RegExp;
  readonly says: string;
}

/** Names that mean something to every JavaScript object. No mapping may use them, whatever its rule allows. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export interface TextShape {
  readonly kind: 'text';
  readonly rule: TextRule | undefined;
  /** True when a value taken from the environment is no secret here and may appear in logs. */
  readonly open: boolean;
}

export interface ChoiceShape {
  readonly kind: 'choice';
  readonly values: readonly string[];
  /** Other spellings that MCP clients use, and the value each stands for. */
  readonly aliases: ReadonlyMap<string, string>;
}

export interface SectionShape {
  readonly kind: 'section';
  /** The forms the mapping may have: one, or several that exclude each other. */
  readonly types: readonly SectionType[];
  /** Which form a mapping is meant to have, judged by the keys it was given. */
  readonly choose: (given: ReadonlyMap<string, unknown>) => SectionType;
}

/** What a key holds: the one description that building, overrides and the JSON Schema all read. */
export type Shape =
  | TextShape
  | ChoiceShape
  | SectionShape
  | { readonly kind: 'whole'; readonly min: number; readonly max: number }
  | { readonly kind: 'flag' }
  | { readonly kind: 'list'; readonly items: TextShape | SectionShape }
  | { readonly kind: 'record'; readonly names: TextRule; readonly values: TextShape }
  | {
      readonly kind: 'entries';
      readonly names: TextRule;
      readonly values: SectionShape;
      readonly collect: (entries: ReadonlyMap<string, object>) => object;
    };

export interface Key {
  readonly description: string;
  readonly shape: Shape;
  /** What to say when the key is not there. Only a key that must be there has it. */
  readonly missing: string | undefined;
}

const declared = new WeakMap<object, Map<string, Key>>();

export function declareKey(prototype: object, name: string, key: Key): void {
  const keys = declared.get(prototype) ?? new Map<string, Key>();
  declared.set(prototype, keys.set(name, key));
}

/** The keys of a section in the order of their declaration, those of its parent class first. */
export function keysOf(type: SectionType): ReadonlyMap<string, Key> {
  const chain: object[] = [];
  for (let at = type.prototype as object | null; at; at = Object.getPrototypeOf(at) as object | null) {
    chain.unshift(at);
  }
  return new Map(chain.flatMap((prototype) => [...(declared.get(prototype) ?? [])]));
}

/** The keys of every form a section may have. */
export function allKeysOf(section: SectionShape): ReadonlyMap<string, Key> {
  return new Map(section.types.flatMap((type) => [...keysOf(type)]));
}

/** The shape of what stands under `name` in a mapping; undefined when nothing can. */
export function shapeBelow(shape: Shape, name: string): Shape | undefined {
  if (shape.kind === 'section') return allKeysOf(shape).get(name)?.shape;
  return shape.kind === 'entries' || shape.kind === 'record' ? shape.values : undefined;
}

export const sectionOf = (type: SectionType): SectionShape => ({
  kind: 'section',
  types: [type],
  choose: () => type,
});
