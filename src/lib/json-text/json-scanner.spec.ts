import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonScanner, type JsonLimits, type JsonOutline } from './json-scanner.js';

const WIDE: JsonLimits = { maxDepth: 64, maxMembers: 100_000 };

interface Scan {
  readonly outline: JsonOutline | undefined;
  readonly exceeded: JsonScanner['exceeded'];
}

/** Scans the text in pieces that end at `cuts`. */
function scan(text: string | Buffer, limits: JsonLimits = WIDE, cuts: readonly number[] = []): Scan {
  const bytes = Buffer.from(text);
  const scanner = new JsonScanner(limits);
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    scanner.push(bytes, from, to);
    from = to;
  }
  return { outline: scanner.end(), exceeded: scanner.exceeded };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children = Object.values(value);
  return children.length + children.reduce<number>((sum, child) => sum + membersIn(child), 0);
}

/** JSON with spaces, escapes and numbers of all forms. */
const jsonText = fc
  .tuple(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, '\t', ' \r\n'))
  .map(([text, indent]) => JSON.stringify(JSON.parse(text), undefined, indent))
  .chain((text) =>
    fc.constantFrom(text, ` ${text}\n`, text.replaceAll('1', '1.0e+5'), text.replaceAll('a', '\\u0061')),
  );

/** Pieces of JSON in any order: mostly invalid, and close to valid. */
const fragments = fc
  .array(
    fc.constantFrom(
      ...Array.from('{}[],:" \n-+.0129eE'),
      'true',
      'false',
      'null',
      'tru',
      '"a"',
      '"a":',
      '\\u00e9',
      '\\',
      '"\\"',
      'é',
      '1.5',
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

const mutated = fc
  .tuple(jsonText, fc.nat(), fc.constantFrom('', '"', ',', ':', '}', ']', '{', '[', '0', '\\', '\n', 'x'))
  .map(([text, at, byte]) => text.slice(0, at % text.length) + byte + text.slice((at % text.length) + 1));

describe('JsonScanner', () => {
  it.each([
    ['valid texts', jsonText],
    ['texts with one wrong character', mutated],
    ['fragments in any order', fragments],
  ])('accepts what JSON.parse accepts: %s', (_what, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(scan(text).outline !== undefined).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['-', false],
    ['-0', true],
    ['01', false],
    ['1.', false],
    ['.5', false],
    ['1e', false],
    ['1e+', false],
    ['1E-07', true],
    ['+1', false],
    ['0x10', false],
    ['Infinity', false],
    ['nul', false],
    ['nulls', false],
    ['"\\x"', false],
    ['"\\u12g4"', false],
    ['"\\u12"', false],
    ['"\t"', false],
    ['"\u007f"', true],
    ["'a'", false],
    ['[1,]', false],
    ['[,1]', false],
    ['{"a"}', false],
    ['{"a":1,}', false],
    ['{a:1}', false],
    ['{1:1}', false],
    ['[}', false],
    ['[1}', false],
    ['{"a":1]', false],
    ['[] []', false],
    ['', false],
    [' ', false],
    ['\uFEFF{}', false],
    ['\u00a0{}', false],
    ['{}//', false],
    ['"\ud800"', true],
  ])('accepts %j: %s', (text, accepted) => {
    expect(parses(text)).toBe(accepted);
    expect(scan(text).outline !== undefined).toBe(accepted);
  });

  it('returns the same for every split of the text', () => {
    fc.assert(
      fc.property(fc.oneof(jsonText, mutated), fc.array(fc.nat(), { maxLength: 5 }), (text, places) => {
        const { length } = Buffer.from(text);
        const cuts = places.map((place) => place % (length + 1)).toSorted((a, b) => a - b);
        const limits = { maxDepth: 3, maxMembers: 5 };
        expect(scan(text, limits, cuts)).toEqual(scan(text, limits));
        const everyByte = Array.from({ length }, (_, index) => index);
        expect(scan(text, limits, everyByte)).toEqual(scan(text, limits));
      }),
      { numRuns: 500 },
    );
  });

  it('counts levels, elements and members exactly', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const value: unknown = JSON.parse(text);
        // A repeated key counts twice, but the parsed object has it once.
        fc.pre(JSON.stringify(value).length === text.length);
        const [depth, members] = [depthOf(value), membersIn(value)];
        fc.pre(members > 0);
        expect(scan(text, { maxDepth: depth, maxMembers: members }).exceeded).toBeUndefined();
        expect(scan(text, { maxDepth: depth - 1, maxMembers: members }).exceeded).toBe('depth');
        expect(scan(text, { maxDepth: depth, maxMembers: members - 1 }).exceeded).toBe('members');
      }),
    );
  });

  it.each([
    ['deep arrays', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['a bracket in a string of a deep value', `${'['.repeat(70)}"]\\"]"${']'.repeat(70)}`],
  ])('finds the members around %s', (_what, deep) => {
    const { outline, exceeded } = scan(`{"result":${deep},"id":7}`);
    expect(exceeded).toBe('depth');
    expect(outline?.outer).toHaveLength(5);
  });

  it('does not count empty containers as members', () => {
    expect(scan('[[],{},[ ]]', { maxDepth: 2, maxMembers: 3 }).exceeded).toBeUndefined();
    expect(scan('[[],{},[ ]]', { maxDepth: 2, maxMembers: 2 }).exceeded).toBe('members');
  });

  it('records no separators beyond its maximum', () => {
    const { outline } = scan(`[${Array.from({ length: 3000 }, () => 1).join(',')}]`);
    expect(outline?.isComplete).toBe(false);
    expect(outline?.outer).toHaveLength(2048);
  });

  it('scans a number that ends with the text', () => {
    expect(scan('12', WIDE, [1]).outline?.kind).toBe('scalar');
    expect(scan('[12', WIDE).outline).toBeUndefined();
  });
});
