import * as fc from 'fast-check';
import type { Paged } from '../../src/core/catalog/list-page.js';
import type { Definition } from '../../src/core/naming/catalog-entry.js';
import type { NameTable } from '../../src/core/naming/name-table.js';
import type { NamedOffer } from '../../src/core/naming/named-offer.js';
import { NameTableBuilder } from '../../src/core/naming/name-table-builder.js';
import { nameWithDigest, type NamingStyle } from '../../src/core/naming/naming.js';
import { EVERYTHING, type Scope } from '../../src/core/scope.js';
import { runSteps } from './run-steps.js';

/** An offer without a rank: tables are built with the servers in the order of the offers. */
export type Offer = Omit<NamedOffer, 'rank'>;

export const SEPARATOR = '__';
/** The id of `a.b` is changed in public names. */
export const SERVERS = ['a', 'a__b', 'b', 'c', 'x', 'a.b', 'a_b'];

export function definition(name: string, more = ''): Definition {
  const text = `{"name":${JSON.stringify(name)}${more}}`;
  const { title, description } = JSON.parse(text) as Record<string, unknown>;
  return {
    name,
    text,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  };
}

export const offer = (server: string, style: NamingStyle, ...names: string[]): Offer => ({
  server,
  style,
  definitions: names.map((name) => definition(name)),
});

export const tableOf = (...offered: Offer[]): NameTable => buildTable(offered);

/** The table of these offers if these servers are configured, some of which may have no offer. */
export function tableWithServers(configured: readonly string[], ...offered: Offer[]): NameTable {
  return buildTable(offered).withServers(new Set(configured));
}

/** For each table, its builder and the servers in it. */
const builders = new WeakMap<NameTable, { builder: NameTableBuilder; servers: readonly string[] }>();

/** The table of these offers. With `previous`, it is built incrementally from that table, the latest of its builder. */
export function buildTable(
  offered: readonly Offer[],
  previous?: NameTable,
  separator = SEPARATOR,
): NameTable {
  const { builder, servers } = (previous && builders.get(previous)) ?? {
    builder: new NameTableBuilder(separator),
    servers: [],
  };
  const now = offered.map(({ server }) => server);
  for (const server of servers) if (!now.includes(server)) runSteps(builder.remove(server));
  offered.forEach((each, rank) => runSteps(builder.put({ ...each, rank })));
  builders.set(builder.table, { builder, servers: now });
  return builder.table;
}

export const only = (...servers: string[]): Scope => ({
  key: servers.join(),
  allows: (server) => servers.includes(server),
});

// Generated offers have few names, so that conflicts are frequent.
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
  // Their names with digest are cut.
  'x'.repeat(54),
  `b__${'x'.repeat(54)}`,
  // The public name of a tool of `a.b`, and the own name with which a tool of `a_b` has the same public name.
  nameWithDigest('a.b__x', 'a.b', 'x'),
  nameWithDigest('a.b__x', 'a.b', 'x').slice('a_b__'.length),
);
export const offers: fc.Arbitrary<Offer[]> = fc.uniqueArray(
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
/** The same offers as new objects, as after a second sync of unchanged servers. */
export const again = (given: readonly Offer[]): Offer[] => structuredClone(given) as Offer[];

/** Signs no cursor: the position itself is the cursor. */
export const plain = (position: string): string => position;

/** The text of the page that starts after a key. */
export const pageOf = (list: Paged, member: string, after = '', size = 100_000): string =>
  runSteps(list.page({ member, after, size, signCursor: plain })).text;

export const listOf = (table: NameTable, scope = EVERYTHING): string => pageOf(table.view(scope), 'tools');

export function toolsOf(given: readonly Offer[], scope: Scope): { server: string; own: string }[] {
  return given
    .filter(({ server }) => scope.allows(server))
    .flatMap(({ server, definitions }) => definitions.map(({ name }) => ({ server, own: name })));
}
