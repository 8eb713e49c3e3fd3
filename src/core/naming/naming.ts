import { createHash } from 'node:crypto';

/** How a server's tools and prompts are named in the lists. */
export type NamingStyle = 'always' | 'conflict' | 'never';

/** One tool or prompt that wants a public name; `own` is what its server calls it. */
export interface Claim {
  readonly server: string;
  readonly own: string;
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
export function assignNames(claims: readonly Claim[], separator: string): (string | undefined)[] {
  const prefixed = claims.map(({ server, own }) => prefixedName(server, separator, own));
  const contested = contestedNames(claims);
  const isForeign = foreignNames(claims, prefixed);
  const isBare = (claim: Claim): boolean =>
    claim.style === 'never' || (claim.style === 'conflict' && !contested.has(claim.own) && !isForeign(claim));

  const taken = new Set<string>();
  const take = (claim: Claim, wanted: string): string | undefined => {
    let name = fit(wanted, claim);
    if (taken.has(name) && claim.style !== 'never') name = withDigest(wanted, claim);
    if (taken.has(name)) return undefined;
    taken.add(name);
    return name;
  };
  const names = claims.map((claim, index) => (isBare(claim) ? undefined : take(claim, prefixed[index]!)));
  return claims.map((claim, index) => {
    if (!isBare(claim)) return names[index];
    return isForeign(claim) ? undefined : take(claim, claim.own);
  });
}

/** Own names that more than one server would list without a prefix. */
function contestedNames(claims: readonly Claim[]): Set<string> {
  const owner = new Map<string, string>();
  const contested = new Set<string>();
  for (const { server, own, style } of claims) {
    if (style === 'always') continue;
    const first = owner.get(own);
    if (first === undefined) owner.set(own, server);
    else if (first !== server) contested.add(own);
  }
  return contested;
}

/** Tells of a claim whether its own name is the prefixed name of another server's. */
function foreignNames(claims: readonly Claim[], prefixed: readonly string[]): (claim: Claim) => boolean {
  const owners = new Map<string, Set<string>>();
  claims.forEach(({ server }, index) => {
    const name = prefixed[index]!;
    owners.set(name, (owners.get(name) ?? new Set()).add(server));
  });
  return ({ server, own }) => {
    const servers = owners.get(own);
    return servers !== undefined && (servers.size > 1 || !servers.has(server));
  };
}

function fit(name: string, claim: Claim): string {
  return name.length <= LONGEST_NAME && name.search(UNSAFE) === -1 ? name : withDigest(name, claim);
}

/** A shortened name with a digest of what it stands for, so that it stays the same and stays unique. */
function withDigest(name: string, { server, own }: Claim): string {
  const digest = createHash('sha256').update(`${server}\0${own}`).digest('hex').slice(0, 8);
  const room = LONGEST_NAME - digest.length - 1;
  const cut = name.replace(UNSAFE, '_').slice(0, room);
  return `${cut.replace(/[\ud800-\udbff]$/, '')}_${digest}`;
}
