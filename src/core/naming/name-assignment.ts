import {
  isValidPublicName,
  nameWithDigest,
  prefixedName,
  splitPrefixedName,
  type NamingStyle,
} from './naming.js';

/** A tool or prompt that needs a public name. */
export class NameClaim {
  /** Undefined when another claim has the name and no prefix is allowed. */
  publicName: string | undefined;
  /** Whether it claims its own name, without a prefix. */
  isBare = false;
  /** Whether its own name is the prefixed name of another server's claim. */
  isForeign = false;

  constructor(
    readonly server: string,
    /** Position of the server in the configuration. */
    readonly rank: number,
    readonly style: NamingStyle,
    readonly ownName: string,
  ) {}
}

/**
 * Assigns public names to claims, one claim at a time. The result depends on the claims only, not on the order in which
 * they were added: a name goes to the first claim that prefers it. Claims of prefixed names come before claims of own
 * names, then the order of the servers decides, then the own name. A prefixed name stays free for its own server even
 * where it is not listed: it always leads to its own server, whichever own names other servers use.
 */
export class NameAssignment<Claim extends NameClaim = NameClaim> {
  private readonly claims = new Map<string, Map<string, Claim>>();
  /** Claims that may be listed without a prefix. */
  private readonly byOwnName = new Map<string, Set<Claim>>();
  private readonly holders = new Map<string, Claim>();
  /** Claims that prefer a name to the one they have. */
  private readonly waiting = new Map<string, Set<Claim>>();
  private readonly unassigned = new Set<Claim>();
  private changed = new Set<string>();

  constructor(private readonly separator: string) {}

  /** By own name. */
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

  /** Servers of which a claim was added, removed or renamed since the last call. */
  takeChanged(): ReadonlySet<string> {
    const { changed } = this;
    this.changed = new Set();
    return changed;
  }

  /** Claims of the same own name, and claims whose own name is the prefixed name of this one. */
  private updateRelated({ server, ownName }: Claim): void {
    if (this.byOwnName.size === 0) return;
    const same = this.byOwnName.get(ownName);
    // More claims of one name make no further difference.
    const related = same && same.size <= 2 ? [...same] : [];
    const foreign = this.byOwnName.get(prefixedName(server, this.separator, ownName)) ?? [];
    for (const claim of [...related, ...foreign]) this.updatePreference(claim);
  }

  private updatePreference(claim: Claim): void {
    const { isBare, isForeign } = claim;
    if (isBare === this.isBare(claim) && isForeign === this.isForeign(claim)) return;
    this.release(claim);
    this.setPreference(claim);
  }

  private setPreference(claim: Claim): void {
    claim.isForeign = this.isForeign(claim);
    claim.isBare = this.isBare(claim);
  }

  private isBare(claim: Claim): boolean {
    if (claim.style !== 'conflict') return claim.style === 'never';
    return this.byOwnName.get(claim.ownName)!.size === 1 && !this.isForeign(claim);
  }

  private isForeign({ server, ownName, style }: Claim): boolean {
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

  /** Takes the best name that is free or held by a claim that comes later, which then is assigned another. */
  private assign(claim: Claim): void {
    for (const name of this.preferredNames(claim)) {
      if (name === claim.publicName) return;
      const holder = this.holders.get(name);
      if (holder && comesBefore(holder, claim)) {
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

  private release(claim: Claim): void {
    for (const name of this.preferredNames(claim)) {
      if (name === claim.publicName) break;
      deleteFrom(this.waiting, name, claim);
    }
    this.giveUpName(claim);
    this.unassigned.add(claim);
  }

  /** The name is then offered to the claims that prefer it to theirs. */
  private giveUpName(claim: Claim): void {
    this.changed.add(claim.server);
    if (claim.publicName === undefined) return;
    this.holders.delete(claim.publicName);
    for (const waiting of this.waiting.get(claim.publicName) ?? []) this.unassigned.add(waiting);
    claim.publicName = undefined;
  }

  private *preferredNames({ server, ownName, style, isBare, isForeign }: Claim): Iterable<string> {
    if (isBare && isForeign) return;
    const wanted = isBare ? ownName : prefixedName(server, this.separator, ownName);
    const isValid = isValidPublicName(wanted);
    if (isValid) yield wanted;
    if (!isValid || style !== 'never') yield nameWithDigest(wanted, server, ownName);
  }
}

function comesBefore(a: NameClaim, b: NameClaim): boolean {
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
