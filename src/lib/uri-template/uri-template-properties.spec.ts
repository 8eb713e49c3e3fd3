import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { Operator } from './expression-matcher.js';
import type { Variable } from './match-subject.js';
import { readExpression, UriTemplate } from './uri-template.js';

type Value = string | readonly string[] | readonly (readonly [string, string])[] | undefined;

/** The table of RFC 6570, appendix A. */
const RULES: Record<
  Operator,
  { first: string; separator: string; isNamed: boolean; allowsReserved: boolean }
> = {
  '': { first: '', separator: ',', isNamed: false, allowsReserved: false },
  '+': { first: '', separator: ',', isNamed: false, allowsReserved: true },
  '#': { first: '#', separator: ',', isNamed: false, allowsReserved: true },
  '.': { first: '.', separator: '.', isNamed: false, allowsReserved: false },
  '/': { first: '/', separator: '/', isNamed: false, allowsReserved: false },
  ';': { first: ';', separator: ';', isNamed: true, allowsReserved: false },
  '?': { first: '?', separator: '&', isNamed: true, allowsReserved: false },
  '&': { first: '&', separator: '&', isNamed: true, allowsReserved: false },
};

/** What an expression expands to, by RFC 6570, section 3.2.1. */
function expand(expression: string, values: readonly Value[]): string {
  const { operator, variables } = readExpression(expression);
  const { first, separator } = RULES[operator];
  const expanded = variables.flatMap((variable, index) => expandOne(operator, variable, values[index]));
  return expanded.length === 0 ? '' : first + expanded.join(separator);
}

function expandOne(operator: Operator, { name, maxLength, explode }: Variable, value: Value): string[] {
  const { isNamed, allowsReserved } = RULES[operator];
  const encode = (text: string): string => (allowsReserved ? encodeReserved(text) : encodeAll(text));
  const named = (text: string): string => {
    if (!isNamed) return text;
    return text === '' && operator === ';' ? name : `${name}=${text}`;
  };
  if (value === undefined || (typeof value !== 'string' && value.length === 0)) return [];
  if (typeof value === 'string') return [named(encode(Array.from(value).slice(0, maxLength).join('')))];
  if (!explode) return [named(value.flat().map(encode).join(','))];
  return value.map((item) => (typeof item === 'string' ? named(encode(item)) : item.map(encode).join('=')));
}

const encodeAll = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

const encodeReserved = (text: string): string =>
  text.replace(/%[0-9A-Fa-f]{2}|[^]/gu, (part) =>
    /^(%..|[:/?#[\]@!$&'()*+,;=])$/.test(part) ? part : encodeAll(part),
  );

/** Whether the text may stand in place of the expression: a naive second implementation. */
function accepts(expression: string, before: string, text: string): boolean {
  const { operator, variables } = readExpression(expression);
  const limits = variables.map(({ maxLength }) => maxLength);
  const size = Array.from(text).length - (RULES[operator].first === '' ? 0 : 1);
  const isShort = size <= limits.reduce((sum, limit) => sum + limit) + limits.length - 1;
  const isExploded = variables.some(({ explode }) => explode);
  if (text === '') return RULES[operator].first !== '' || before.endsWith('=');
  if (operator === '') return /^[^/?#]+$/.test(text) && isShort;
  if (operator === '+') return isShort;
  if (!text.startsWith(operator)) return false;
  if (operator === '#') return isShort;
  if (operator === '.') return /^[^/?#]+$/.test(text) && isShort;
  const items = text.slice(1).split(RULES[operator].separator);
  if (operator === '/') {
    const areSegments = items.every(
      (item) => !/[?#]/.test(item) && Array.from(item).length <= Math.max(...limits),
    );
    return areSegments && (isExploded || items.length <= variables.length);
  }
  if (text.includes('#') || (operator === ';' && /[/?]/.test(text))) return false;
  return isExploded || items.every((item) => variables.some((variable) => isPair(item, variable)));
}

function isPair(item: string, { name, maxLength }: Variable): boolean {
  const value = item === name ? '' : item.startsWith(`${name}=`) ? item.slice(name.length + 1) : undefined;
  return value !== undefined && Array.from(value).length <= maxLength;
}

/** Tries every division of the URI, the longest part first. */
function matchByTrying({ literals, expressions }: UriTemplate, uri: string): string[] | undefined {
  const tryFrom = (index: number, rest: string): string[] | undefined => {
    const literal = literals[index]!;
    if (!rest.startsWith(literal)) return undefined;
    const after = rest.slice(literal.length);
    if (index === expressions.length) return after === '' ? [] : undefined;
    for (let length = after.length; length >= 0; length--) {
      const part = after.slice(0, length);
      const parts = accepts(expressions[index]!, literal, part) && tryFrom(index + 1, after.slice(length));
      if (parts) return [part, ...parts];
    }
    return undefined;
  };
  return tryFrom(0, uri);
}

const operator = fc.constantFrom<Operator[]>('', '+', '#', '.', '/', ';', '?', '&');
const variable = fc
  .tuple(fc.constantFrom('a', 'b', 'ab', 'a.b', '%41'), fc.constantFrom('', '', '', '*', ':1', ':2', ':30'))
  .map((parts) => parts.join(''));
const expression = fc
  .tuple(operator, fc.array(variable, { minLength: 1, maxLength: 3 }))
  .map(([sign, variables]) => `{${sign}${variables.join(',')}}`);

/** Characters with a meaning for some operator, so that many URIs match ambiguously or almost match. */
const unit = fc.constantFrom('a', 'b', 'A', '/', '?', '#', ',', '.', ';', '&', '=', 'é', '🚀');
const nearText = fc.string({ unit, maxLength: 4 });
const literal = fc.oneof(fc.constantFrom('', '', '/', 'a', '?a=', 'aa'), nearText);

const templateText = fc
  .tuple(literal, fc.array(fc.tuple(expression, literal), { maxLength: 4 }))
  .map(([head, pairs]) => head + pairs.flat().join(''));
const template = templateText.map((text) => UriTemplate.parse(text)!);

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat(0xffff), { maxLength: 20 }).map((codes) => String.fromCharCode(...codes)),
  nearText,
);
const valueFor = ({ maxLength }: Variable): fc.Arbitrary<Value> => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    nearText,
    fc.constantFrom('%41', '%', 'x'.repeat(40)),
  );
  if (maxLength < Infinity) return fc.option(text, { nil: undefined });
  const pairs = fc.array(fc.tuple(text, text), { maxLength: 3 });
  return fc.option(fc.oneof<fc.Arbitrary<Value>[]>(text, fc.array(text, { maxLength: 3 }), pairs), {
    nil: undefined,
  });
};

/** A template and expansions of its expressions. */
const expanded = template.chain((one) =>
  fc
    .tuple(
      ...one.expressions.map((text) =>
        fc.tuple(...readExpression(text).variables.map(valueFor)).map((values) => expand(text, values)),
      ),
    )
    .map((parts) => ({ template: one, parts })),
);

/** URIs that match, and URIs that almost match. */
const templateAndUri = fc.oneof(
  fc.record({ template, uri: fc.string({ unit, maxLength: 9 }) }),
  template.chain((one) =>
    fc
      .array(nearText, { minLength: one.expressions.length, maxLength: one.expressions.length })
      .map((parts) => ({ template: one, uri: one.fill(parts) })),
  ),
  expanded
    .map(({ template: one, parts }) => ({ template: one, uri: one.fill(parts) }))
    .filter(({ uri }) => uri.length <= 40 && !uri.includes('%')),
);

describe('UriTemplate', () => {
  it('matches its RFC 6570 expansion, unless a part is empty that must not be empty', () => {
    fc.assert(
      fc.property(expanded, ({ template: one, parts }) => {
        const hasForbiddenEmptyPart = parts.some(
          (part, index) =>
            part === '' &&
            /^\{[^#./;?&]/.test(one.expressions[index]!) &&
            !one.literals[index]!.endsWith('='),
        );
        fc.pre(!hasForbiddenEmptyPart);
        expect(one.match(one.fill(parts))).toBeDefined();
      }),
      { numRuns: 500 },
    );
  });

  it('finds the same parts as a matcher that tries every division', () => {
    let matches = 0;
    fc.assert(
      fc.property(templateAndUri, ({ template: one, uri }) => {
        const parts = one.match(uri);
        if (parts) matches++;
        expect(parts).toEqual(matchByTrying(one, uri));
      }),
      { numRuns: 2000 },
    );
    expect(matches).toBeGreaterThan(200);
  });

  it('filled with the parts of a matching URI gives that URI', () => {
    fc.assert(
      fc.property(templateAndUri, ({ template: one, uri }) => {
        const parts = one.match(uri);
        fc.pre(parts !== undefined);
        expect(one.fill(parts)).toBe(uri);
        expect(parts).toHaveLength(one.expressions.length);
      }),
    );
  });

  it('consists of alternating literals and expressions', () => {
    fc.assert(
      fc.property(templateText, (text) => {
        const { literals, expressions, literalLength } = UriTemplate.parse(text)!;
        expect(literals).toHaveLength(expressions.length + 1);
        expect(literals.map((one, index) => one + (expressions[index] ?? '')).join('')).toBe(text);
        expect(literalLength).toBe(literals.join('').length);
      }),
    );
  });

  it('never throws on arbitrary templates and URIs', () => {
    const pieces = fc.oneof(
      anyText,
      fc.constantFrom('{', '}', '{a', 'b}', '{a}', '{?a,b}', '{/a*}', '{a:2}'),
    );
    const anyTemplate = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(anyTemplate, fc.array(anyText), (text, parts) => {
        const one = UriTemplate.parse(text);
        one?.match(parts.join(''));
        const filled = one?.fill(parts) ?? '';
        const found = one?.match(filled);
        expect(found && one?.fill(found)).toBe(found && filled);
      }),
      { numRuns: 500 },
    );
  });
});
