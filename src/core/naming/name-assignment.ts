import {
  isValidPublicName,
  nameWithDigest,
  prefixedName,
  splitPrefixedName,
  type NamingStyle,
} from './naming.js';

/** A tool or prompt that needs a public name. */
export class NameClaim {
  /** Undefined when the claim is not listed: style `never` allows no prefix, and its own name is not available. */
  publicName: string | undefined;
  /** Whether the claim is for the own name, without the prefix of the server. */
  isBare = false;
  /** Whether the own name equals the prefixed name of a claim of another server. */
  equalsPrefixedName = false;

  constructor(
    readonly server: string,
    /** Position of the server in the configuration. */
    readonly rank: number,
    readonly style: NamingStyle,
    readonly ownName: string,
  ) {}
}

/**
 * Assigns public names to the tools, or the prompts, of all servers. The rules:
 *
 * - Of several claims for one name, the claim with priority gets it (`hasPriorityOver`). The others get their name with a
 *   digest or, in style `never`, no name.
 * - A prefixed name is reserved for its server even while it is not listed, because requests for it always go to that
 *   server. No other server can get it as an own name.
 *
 * The result depends only on the set of claims, not on the order of `add` and `remove`. Therefore adding or removing one
 * claim can change the names of others.
 */
export class NameAssignment<Claim extends NameClaim = NameClaim> {
  private readonly claims = new Map<string, Map<string, Claim>>();
  /** The claims of styles `conflict` and `never`, which may be listed without a prefix. */
  private readonly byOwnName = new Map<string, Set<Claim>>();
  /** The claim that has a public name, by that name. */
  private readonly holders = new Map<string, Claim>();
  /** By name: the claims that could not get it because its holder has priority. */
  private readonly waiting = new Map<string, Set<Claim>>();
  private readonly unassigned = new Set<Claim>();
  private changed = new Set<string>();

  constructor(private readonly separator: string) {}

  /** The claims of one server, by own name. */
  claimsOf(server: string): ReadonlyMap<string, Claim> | undefined {
    return this.claims.get(server);
  }

  /** A server claims each of its own names once. */
  add(claim: Claim): void {
    const { server, ownName, style } = claim;
    const claims = this.claims.get(server) ?? new Map<string, Claim>();
    this.claims.set(server, claims.set(ownName, claim));
    if (style !== 'always') addTo(this.byOwnName, ownName, claim);
    this.unassigned.add(claim);
    this.setPreference(claim);
    this.updateRelated(claim);
    this.assignAll();
  }

  remove(claim: Claim): void {
    const { server, ownName, style } = claim;
    const claims = this.claims.get(server)!;
    claims.delete(ownName);
    if (claims.size === 0) this.claims.delete(server);
    if (style !== 'always') deleteFrom(this.byOwnName, ownName, claim);
    this.changed.add(server);
    this.release(claim);
    this.unassigned.delete(claim);
    this.updateRelated(claim);
    this.assignAll();
  }

  /** The servers with a claim that was added, removed or renamed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  /**
   * Updates the claims whose preference depends on the claim that was added or removed: claims of the same own name, and
   * claims whose own name equals its prefixed name.
   */
  private updateRelated({ server, ownName }: Claim): void {
    if (this.byOwnName.size === 0) return;
    const same = this.byOwnName.get(ownName);
    // In style `conflict` a claim is bare while it is the only one of its own name: a third claim changes nothing.
    const sameOwnName = same && same.size <= 2 ? [...same] : [];
    const equalToPrefixed = this.byOwnName.get(prefixedName(server, this.separator, ownName)) ?? [];
    for (const claim of [...sameOwnName, ...equalToPrefixed]) this.updatePreference(claim);
  }

  private updatePreference(claim: Claim): void {
    const { isBare, equalsPrefixedName } = claim;
    if (isBare === this.shouldBeBare(claim) && equalsPrefixedName === this.hasEqualPrefixedName(claim))
      return;
    this.release(claim);
    this.setPreference(claim);
  }

  private setPreference(claim: Claim): void {
    claim.equalsPrefixedName = this.hasEqualPrefixedName(claim);
    claim.isBare = this.shouldBeBare(claim);
  }

  private shouldBeBare(claim: Claim): boolean {
    if (claim.style === 'always') return false;
    if (claim.style === 'never') return true;
    return this.byOwnName.get(claim.ownName)!.size === 1 && !this.hasEqualPrefixedName(claim);
  }

  private hasEqualPrefixedName({ server, ownName, style }: Claim): boolean {
    if (style === 'always') return false;
    for (const [owner, name] of splitPrefixedName(ownName, this.separator))
      if (owner !== server && this.claims.get(owner)?.has(name)) return true;
    return false;
  }

  private assignAll(): void {
    for (const claim of this.unassigned) {
      this.unassigned.delete(claim);
      this.assign(claim);
    }
  }

  /** Gives the claim the first preferred name whose holder has no priority over it. That holder is assigned again. */
  private assign(claim: Claim): void {
    for (const name of this.preferredNames(claim)) {
      if (name === claim.publicName) return;
      const holder = this.holders.get(name);
      if (holder && hasPriorityOver(holder, claim)) {
        addTo(this.waiting, name, claim);
        continue;
      }
      deleteFrom(this.waiting, name, claim);
      this.giveUpName(claim);
      this.holders.set(name, claim);
      claim.publicName = name;
      if (!holder) return;
      holder.publicName = undefined;
      this.changed.add(holder.server);
      this.unassigned.add(holder);
      return;
    }
    this.changed.add(claim.server);
  }

  /** Takes the name of the claim away, and marks the claim to be assigned again. */
  private release(claim: Claim): void {
    for (const name of this.preferredNames(claim)) {
      if (name === claim.publicName) break;
      deleteFrom(this.waiting, name, claim);
    }
    this.giveUpName(claim);
    this.unassigned.add(claim);
  }

  /** Frees the name of the claim. The claims that wait for this name are assigned again. */
  private giveUpName(claim: Claim): void {
    this.changed.add(claim.server);
    if (claim.publicName === undefined) return;
    this.holders.delete(claim.publicName);
    for (const waiting of this.waiting.get(claim.publicName) ?? []) this.unassigned.add(waiting);
    claim.publicName = undefined;
  }

  /** The names that the claim accepts, best first. None when it cannot be listed. */
  private *preferredNames({ server, ownName, style, isBare, equalsPrefixedName }: Claim): Iterable<string> {
    // Only in style `never`: the own name is reserved for another server, and a prefix is not allowed.
    if (isBare && equalsPrefixedName) return;
    const wanted = isBare ? ownName : prefixedName(server, this.separator, ownName);
    const isValid = isValidPublicName(wanted);
    if (isValid) yield wanted;
    if (!isValid || style !== 'never') yield nameWithDigest(wanted, server, ownName);
  }
}

/** Claims for prefixed names come first, then the order of the servers decides, then the order of own names. */
function hasPriorityOver(a: NameClaim, b: NameClaim): boolean {
  if (a.isBare !== b.isBare) return b.isBare;
  if (a.rank !== b.rank) return a.rank < b.rank;
  return a.server === b.server ? a.ownName < b.ownName : a.server < b.server;
}

function addTo<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

function deleteFrom<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  const set = sets.get(key);
  if (set?.delete(value) && set.size === 0) sets.delete(key);
}
