import * as fc from 'fast-check';
import { NameTable, type Definition, type NamedOffer } from '../../src/core/naming/name-table.js';
import type { NamingStyle } from '../../src/core/naming/naming.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';

/** What servers offer, made up: few names, chosen so that they meet. */
export const SEPARATOR = '__';
export const SERVERS = ['a', 'a__b', 'b', 'c', 'x'];

export const definition = (name: string, more = ''): Definition => ({
  name,
  text: `{"name":${JSON.stringify(name)}${more}}`,
});

export const offer = (server: string, style: NamingStyle, ...names: string[]): NamedOffer => ({
  server,
  style,
  definitions: names.map((name) => definition(name)),
});

export const tableOf = (...offered: NamedOffer[]): NameTable => NameTable.build(offered, SEPARATOR);

export const only = (...servers: string[]): Scope => ({
  key: servers.join(),
  allows: (server) => servers.includes(server),
});

export const serverIds = fc.constantFrom(...SERVERS);
export const ownNames = fc.constantFrom(
  'x',
  'y',
  'z',
  'b__x',
  'a__x',
  'a__b__x',
  '__proto__',
  'ü',
  '🚀',
  'x'.repeat(70),
);
export const offers: fc.Arbitrary<NamedOffer[]> = fc.uniqueArray(
  fc.record({
    server: serverIds,
    style: fc.constantFrom('always', 'conflict', 'never'),
    definitions: fc.uniqueArray(
      fc
        .record({ name: ownNames, more: fc.constantFrom('', ',"title":"one"', ',"title":"two"') })
        .map(({ name, more }) => definition(name, more)),
      { maxLength: 6, selector: ({ name }) => name },
    ),
  }),
  { maxLength: 4, selector: ({ server }) => server },
);
export const scopes = fc.subarray(SERVERS).map((servers) => only(...servers));
/** As separate objects, the way a second sync of an unchanged server brings them. */
export const again = (given: readonly NamedOffer[]): NamedOffer[] => structuredClone(given) as NamedOffer[];

/** Cursors in clear text. */
export const plain = (position: string): string => position;

export const listOf = (table: NameTable, scope = EVERYTHING): string =>
  table.view(scope).page('tools', '', 100_000, plain).text;

export function toolsOf(given: readonly NamedOffer[], scope: Scope): { server: string; own: string }[] {
  return given
    .filter(({ server }) => scope.allows(server))
    .flatMap(({ server, definitions }) => definitions.map(({ name }) => ({ server, own: name })));
}
