import { createHash } from 'node:crypto';

/** How a server's tools and prompts are named in the lists. */
export type NamingStyle = 'always' | 'conflict' | 'never';

/** One tool or prompt that wants a public name; `own` is what its server calls it. */
export interface NameClaim {
  readonly server: string;
  readonly ownName: string;
  readonly style: NamingStyle;
}

/** Model providers refuse longer tool names. */
const LONGEST_NAME = 64;

/** Control, format, private and separator characters: invisible in a list, and not to be trusted in a name. */
const UNSAFE = /[\p{C}\p{Z}]+/gu;

export const prefixedName = (server: string, separator: string, own: string): string =>
  `${server}${separator}${own}`;

/**
 * The public name of every claim, in the order of the claims; undefined where the name belongs to another server
 * and the style allows no prefix. A pure function of what is claimed and in which order. Prefixed names go out
 * first and are kept free even where they are not listed: a prefixed name always leads to its own server, whatever
 * another one calls its tools.
 */
export function assignNames(claims: readonly NameClaim[], separator: string): (string | undefined)[] {
  const prefixed = claims.map(({ server, ownName }) => prefixedName(server, separator, ownName));
  const contested = contestedNames(claims);
  const isForeign = foreignNames(claims, prefixed);
  const isBare = (claim: NameClaim): boolean =>
    claim.style === 'never' ||
    (claim.style === 'conflict' && !contested.has(claim.ownName) && !isForeign(claim));

  const taken = new Set<string>();
  const take = (claim: NameClaim, wanted: string): string | undefined => {
    let name = fit(wanted, claim);
    if (taken.has(name) && claim.style !== 'never') name = withDigest(wanted, claim);
    if (taken.has(name)) return undefined;
    taken.add(name);
    return name;
  };
  const names = claims.map((claim, index) => (isBare(claim) ? undefined : take(claim, prefixed[index]!)));
  return claims.map((claim, index) => {
    if (!isBare(claim)) return names[index];
    return isForeign(claim) ? undefined : take(claim, claim.ownName);
  });
}

/** Own names that more than one server would list without a prefix. */
function contestedNames(claims: readonly NameClaim[]): Set<string> {
  const owner = new Map<string, string>();
  const contested = new Set<string>();
  for (const { server, ownName, style } of claims) {
    if (style === 'always') continue;
    const first = owner.get(ownName);
    if (first === undefined) owner.set(ownName, server);
    else if (first !== server) contested.add(ownName);
  }
  return contested;
}

/** Tells of a claim whether its own name is the prefixed name of another server's. */
function foreignNames(
  claims: readonly NameClaim[],
  prefixed: readonly string[],
): (claim: NameClaim) => boolean {
  const owners = new Map<string, Set<string>>();
  claims.forEach(({ server }, index) => {
    const name = prefixed[index]!;
    owners.set(name, (owners.get(name) ?? new Set()).add(server));
  });
  return ({ server, ownName }) => {
    const servers = owners.get(ownName);
    return servers !== undefined && (servers.size > 1 || !servers.has(server));
  };
}

function fit(name: string, claim: NameClaim): string {
  return name.length <= LONGEST_NAME && name.search(UNSAFE) === -1 ? name : withDigest(name, claim);
}

/** A shortened name with a digest of what it stands for, so that it stays the same and stays unique. */
function withDigest(name: string, { server, ownName }: NameClaim): string {
  const digest = createHash('sha256').update(`${server}\0${ownName}`).digest('hex').slice(0, 8);
  const room = LONGEST_NAME - digest.length - 1;
  const cut = name.replace(UNSAFE, '_').slice(0, room);
  return `${cut.replace(/[\ud800-\udbff]$/, '')}_${digest}`;
}
