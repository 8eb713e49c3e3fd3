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
 * The public name of every claim, in the order of the claims; undefined where the name went to an earlier
 * server and the style allows no prefix. A pure function of what is claimed and in which order.
 */
export function assignNames(claims: readonly Claim[], separator: string): (string | undefined)[] {
  const contested = contestedNames(claims);
  const taken = new Set<string>();
  return claims.map((claim) => {
    const bare = claim.style === 'never' || (claim.style === 'conflict' && !contested.has(claim.own));
    const name = bare ? claim.own : prefixedName(claim.server, separator, claim.own);
    const fitted = fit(name, claim);
    const free = taken.has(fitted) ? (claim.style === 'never' ? undefined : withDigest(name, claim)) : fitted;
    if (free === undefined || taken.has(free)) return undefined;
    taken.add(free);
    return free;
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
