import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { NameAssignment, NameClaim } from './name-assignment.js';
import { isValidPublicName, nameWithDigest, prefixedName, type NamingStyle } from './naming.js';

const SEPARATOR = '__';
const STYLES = ['always', 'conflict', 'never'] as const;

type Claim = Pick<NameClaim, 'server' | 'ownName' | 'style'>;

const claim = (server: string, ownName: string, style: NamingStyle = 'always'): Claim => ({
  server,
  ownName,
  style,
});

/** The rank of a server is its position among the servers. */
function toNameClaims(claims: readonly Claim[]): NameClaim[] {
  const servers = [...new Set(claims.map(({ server }) => server))];
  return claims.map(
    ({ server, style, ownName }) => new NameClaim(server, servers.indexOf(server), style, ownName),
  );
}

function namesOf(claims: readonly Claim[], separator = SEPARATOR): (string | undefined)[] {
  const assignment = new NameAssignment(separator);
  const added = toNameClaims(claims);
  for (const each of added) assignment.add(each);
  return added.map(({ publicName }) => publicName);
}

const nameOf = (server: string, own: string, style: NamingStyle = 'always') =>
  namesOf([claim(server, own, style)])[0];

/** Sources of name conflicts: nested separators, long names, invisible characters, keys of Object.prototype. */
const serverId = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'a__b', 'a_', 'A', 'x') },
  { weight: 1, arbitrary: fc.constantFrom('constructor', 'a'.repeat(64), `${'a'.repeat(63)}b`) },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/) },
);
const plainName = fc.constantFrom('x', 'y', 'b__x', 'a__x', 'b__a__x', '_x', 'a__b__x', 'X', '__proto__');
const anyName = fc.oneof(
  { weight: 4, arbitrary: plainName },
  { weight: 1, arbitrary: fc.constantFrom('a\u200bx', 'a x', '\u202ex', '🚀'.repeat(40)) },
  { weight: 1, arbitrary: fc.constantFrom('x'.repeat(64), 'x'.repeat(65), `${'x'.repeat(64)}y`) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 80 }) },
);

/** Servers in their order, each with tools whose own names differ. */
const claimsOf = (style: fc.Arbitrary<NamingStyle>, own = anyName): fc.Arbitrary<Claim[]> =>
  fc
    .uniqueArray(
      fc.record({ server: serverId, style, owns: fc.uniqueArray(own, { minLength: 1, maxLength: 6 }) }),
      { maxLength: 5, selector: ({ server }) => server },
    )
    .map((servers) =>
      servers.flatMap(({ server, style: s, owns }) => owns.map((one) => claim(server, one, s))),
    );

const claimed = claimsOf(fc.constantFrom(...STYLES));
const separators = fc.constantFrom('__', '_', '.', '-', 'a');

describe('NameAssignment', () => {
  it('prefixes every name with the server, in style always', () => {
    expect(namesOf([claim('filesystem', 'read_file'), claim('github', 'read_file')])).toEqual([
      'filesystem__read_file',
      'github__read_file',
    ]);
  });

  it('puts the configured separator between server and name', () => {
    expect(namesOf([claim('fs', 'read')], '.')).toEqual(['fs.read']);
  });

  it('prefixes only names that two servers share, in style conflict', () => {
    const shared = [claim('a', 'x', 'conflict'), claim('a', 'y', 'conflict'), claim('b', 'x', 'conflict')];
    expect(namesOf(shared)).toEqual(['a__x', 'y', 'b__x']);
  });

  it('leaves a name bare that the other server always prefixes, in style conflict', () => {
    expect(namesOf([claim('a', 'x', 'always'), claim('b', 'x', 'conflict')])).toEqual(['a__x', 'x']);
  });

  it('gives a name to the server in style never before the server in style conflict, in any order', () => {
    expect(namesOf([claim('a', 'x', 'conflict'), claim('b', 'x', 'never')])).toEqual(['a__x', 'x']);
    expect(namesOf([claim('b', 'x', 'never'), claim('a', 'x', 'conflict')])).toEqual(['x', 'a__x']);
  });

  it('gives a name to the first server that has it, in style never', () => {
    const claims = [claim('a', 'x', 'never'), claim('b', 'x', 'never'), claim('b', 'y', 'never')];
    expect(namesOf(claims)).toEqual(['x', undefined, 'y']);
  });

  it('adds a digest to the second of two equal prefixed names', () => {
    const [first, second] = namesOf([claim('a', 'b__c'), claim('a__b', 'c')]);
    expect(first).toBe('a__b__c');
    expect(second).toMatch(/^a__b__c_[0-9a-f]{8}$/);
  });

  it.each([
    ['never', undefined],
    ['conflict', 'evil__github__create_issue'],
  ] as const)(
    'does not give a server the prefixed name of another, even when it comes first, in style %s',
    (style, expected) => {
      const claims = [claim('evil', 'github__create_issue', style), claim('github', 'create_issue')];
      expect(namesOf(claims)).toEqual([expected, 'github__create_issue']);
    },
  );

  it('does not give a server the shortened name of another', () => {
    const victim = claim('github', 'x'.repeat(80));
    const stolen = namesOf([victim])[0]!;
    for (const style of ['never', 'conflict'] as const)
      expect(namesOf([claim('evil', stolen, style), victim])[1]).toBe(stolen);
  });

  it('lets a server use the prefixed name of its own tool as the name of another of its tools', () => {
    expect(namesOf([claim('git', 'status', 'never'), claim('git', 'git__status', 'never')])).toEqual([
      'status',
      'git__status',
    ]);
  });

  it('keeps a name of 64 characters and shortens one of 65', () => {
    expect(nameOf('s', 'x'.repeat(61))).toBe(`s__${'x'.repeat(61)}`);
    expect(nameOf('s', 'x'.repeat(62))).toHaveLength(64);
  });

  it('shortens a name to the same text in every version, because clients store it', () => {
    const own = 'x'.repeat(62);
    expect(nameOf('s', own)).toBe(`s__${'x'.repeat(52)}_f5513bea`);
  });

  it('shortens two long names with the same prefix to different names', () => {
    const long = 'x'.repeat(70);
    expect(
      new Set(namesOf([claim('s', `${long}1`), claim('s', `${long}2`), claim('t', `${long}1`)])).size,
    ).toBe(3);
  });

  it('does not cut a surrogate pair', () => {
    expect(nameOf('s', `${'x'.repeat(51)}${'🚀'.repeat(10)}`)).toMatch(/^s__x{51}_[0-9a-f]{8}$/);
  });

  it.each([
    ['a space', 'a b'],
    ['a line break', 'a\nb'],
    ['NUL', 'a\0b'],
    ['a zero-width space', 'a\u200bb'],
    ['a right-to-left override', 'a\u202eb'],
    ['a soft hyphen', 'a\u00adb'],
    ['a byte order mark', 'a\ufeffb'],
    ['a tag character', 'a\u{e0041}b'],
    ['a line separator', 'a\u2028b'],
    ['a private character', 'a\ue000b'],
    ['half a surrogate pair', 'a\ud800b'],
  ])('replaces %s by an underscore and adds a digest', (_what, own) => {
    for (const style of STYLES) expect(nameOf('s', own, style)).toMatch(/^(s__)?a_b_[0-9a-f]{8}$/);
  });

  it.each(['größe', '読む', 'a.b/c:d', '🚀'])('keeps visible characters: %s', (own) => {
    expect(nameOf('s', own, 'never')).toBe(own);
  });

  it('assigns every name once, with at most 64 visible characters', () => {
    fc.assert(
      fc.property(claimed, separators, (claims, separator) => {
        const names = namesOf(claims, separator).filter((name) => name !== undefined);
        expect(new Set(names).size).toBe(names.length);
        for (const name of names) {
          expect(name.length).toBeLessThanOrEqual(64);
          expect(name).not.toMatch(/[\p{C}\p{Z}]/u);
        }
      }),
    );
  });

  it('assigns the same names to equal claims', () => {
    fc.assert(
      fc.property(claimed, separators, (claims, separator) => {
        const copy = claims.map((one) => Object.freeze({ ...one }));
        expect(namesOf(Object.freeze(copy), separator)).toEqual(namesOf(claims, separator));
      }),
    );
  });

  it('assigns the same names as a naive assignment in order of priority', () => {
    fc.assert(
      fc.property(claimed, separators, (claims, separator) => {
        const expected = assignInOrder(toNameClaims(claims), separator);
        const names = namesOf(claims, separator);
        expect(claims.map((_, index) => names[index])).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('assigns the same names after any sequence of additions and removals', () => {
    fc.assert(
      fc.property(claimed, fc.infiniteStream(fc.nat(99)), separators, (claims, random, separator) => {
        const assignment = new NameAssignment(separator);
        const all = toNameClaims(claims);
        for (const each of shuffled(all, random)) assignment.add(each);
        const removed = shuffled(all, random).slice(0, all.length / 2);
        for (const each of removed) assignment.remove(each);
        const rest = all.filter((each) => !removed.includes(each));
        expect(rest.map(({ publicName }) => publicName)).toEqual(assignInOrder(rest, separator));
        for (const each of removed) assignment.add(each);
        expect(all.map(({ publicName }) => publicName)).toEqual(assignInOrder(all, separator));
      }),
      { numRuns: 500 },
    );
  });

  it('reports the servers whose names changed', () => {
    const assignment = new NameAssignment(SEPARATOR);
    const [a, b, c] = toNameClaims([
      claim('a', 'x', 'conflict'),
      claim('b', 'x', 'conflict'),
      claim('c', 'y'),
    ]);
    for (const each of [a!, c!]) assignment.add(each);
    expect(assignment.takeChanged()).toEqual(new Set(['a', 'c']));
    assignment.add(b!);
    expect(assignment.takeChanged()).toEqual(new Set(['a', 'b']));
    expect(assignment.takeChanged()).toEqual(new Set());
  });

  it('assigns a name to every claim that may be prefixed', () => {
    fc.assert(
      fc.property(claimed, (claims) => {
        const names = namesOf(claims);
        const nameless = claims.filter((_, index) => names[index] === undefined);
        expect(nameless.filter(({ style }) => style !== 'never')).toEqual([]);
      }),
    );
  });

  it('names a tool as if its server were alone unless two prefixed names are equal, in style always', () => {
    fc.assert(
      fc.property(claimed, (claims) => {
        const alone = claims.map(({ server, ownName }) => nameOf(server, ownName));
        const names = namesOf(claims);
        const unique = [...claims.keys()].filter(
          (index) => claims[index]!.style === 'always' && count(alone, alone[index]) === 1,
        );
        for (const index of unique) expect(names[index]).toBe(alone[index]);
      }),
    );
  });

  it('lists exactly the first of each name that is not the prefixed name of another server, in style never', () => {
    fc.assert(
      fc.property(claimsOf(fc.constant('never'), plainName), (claims) => {
        const eligible = claims.filter((one) => !equalsPrefixedName(one, claims));
        const expected = claims.map((one) =>
          eligible.find(({ ownName }) => ownName === one.ownName) === one ? one.ownName : undefined,
        );
        expect(namesOf(claims)).toEqual(expected);
      }),
    );
  });

  it('lists a name bare exactly when no other server has it or has it as prefixed name, in style conflict', () => {
    fc.assert(
      fc.property(claimsOf(fc.constant('conflict'), plainName), (claims) => {
        const names = namesOf(claims);
        const holderOf = ({ ownName }: Claim): Claim | undefined => claims[names.indexOf(ownName)];
        const isFree = (one: Claim): boolean => !isShared(one, claims) && !equalsPrefixedName(one, claims);
        // Its own server may have another tool that is prefixed to the same name.
        for (const one of claims.filter(isFree)) expect(holderOf(one)?.server).toBe(one.server);
        for (const one of claims.filter((other) => !isFree(other))) expect(holderOf(one)).not.toBe(one);
      }),
    );
  });
});

const isShared = ({ server, ownName }: Claim, claims: readonly Claim[]): boolean =>
  claims.some((other) => other.server !== server && other.ownName === ownName);

const equalsPrefixedName = ({ server, ownName }: Claim, claims: readonly Claim[]): boolean =>
  claims.some(
    (other) => other.server !== server && prefixedName(other.server, SEPARATOR, other.ownName) === ownName,
  );

const count = <T>(items: readonly T[], item: T): number => items.filter((other) => other === item).length;

function shuffled<T>(items: readonly T[], random: fc.Stream<number>): T[] {
  const keyed = items.map((item) => ({ item, key: random.next().value as number }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}

/** A naive implementation: claims take names one after the other, those for prefixed names first. */
function assignInOrder(claims: readonly NameClaim[], separator: string): (string | undefined)[] {
  const prefixed = ({ server, ownName }: Claim): string => prefixedName(server, separator, ownName);
  const mayBeBare = claims.filter(({ style }) => style !== 'always');
  const equalsPrefixedNameOfOther = (one: Claim): boolean =>
    claims.some((other) => other.server !== one.server && prefixed(other) === one.ownName);
  const isBare = (one: Claim): boolean =>
    one.style === 'never' ||
    (one.style === 'conflict' && !isShared(one, mayBeBare) && !equalsPrefixedNameOfOther(one));
  const taken = new Map<string, Claim>();
  const take = (one: Claim, wanted: string): void => {
    const digest = nameWithDigest(wanted, one.server, one.ownName);
    const names = isValidPublicName(wanted) ? [wanted, ...(one.style === 'never' ? [] : [digest])] : [digest];
    const free = names.find((name) => !taken.has(name));
    if (free !== undefined) taken.set(free, one);
  };
  const ordered = claims.toSorted((a, b) => a.rank - b.rank || (a.ownName < b.ownName ? -1 : 1));
  for (const one of ordered) if (!isBare(one)) take(one, prefixed(one));
  for (const one of ordered) if (isBare(one) && !equalsPrefixedNameOfOther(one)) take(one, one.ownName);
  const names = new Map([...taken].map(([name, one]) => [one, name]));
  return claims.map((one) => names.get(one));
}
