import type { Steps } from '../../../lib/slices/run-sliced.js';

const SHARD_COUNT = 256;

/** The only owner, or several owners. Most names have one, for which an array would take more memory. */
type Owners = string | readonly string[];

/**
 * Maps names to the servers that have them. Names are divided into many small Maps (shards), because a Map with a
 * million names blocks the event loop when it grows.
 */
export class NameOwners {
  private shards = Array.from({ length: SHARD_COUNT }, () => new Map<string, Owners>());

  /** A copy to which changes can be made independently. */
  *fork(): Steps<NameOwners> {
    const fork = new NameOwners();
    fork.shards = [];
    for (const shard of this.shards) {
      fork.shards.push(new Map(shard));
      yield;
    }
    return fork;
  }

  has(name: string): boolean {
    return this.shardOf(name).has(name);
  }

  /** Whether several servers have the name. */
  isShared(name: string): boolean {
    return typeof this.shardOf(name).get(name) === 'object';
  }

  ownersOf(name: string): readonly string[] {
    const owners = this.shardOf(name).get(name) ?? [];
    return typeof owners === 'string' ? [owners] : owners;
  }

  /** Adds an owner. Returns the server that was the only owner of the name until now, if any. */
  add(name: string, server: string): string | undefined {
    const shard = this.shardOf(name);
    const owners = shard.get(name);
    if (owners === undefined) shard.set(name, server);
    else shard.set(name, [...this.ownersOf(name), server]);
    return typeof owners === 'string' ? owners : undefined;
  }

  /** Removes an owner. Returns the server that is the only owner of the name from now on, if any. */
  delete(name: string, server: string): string | undefined {
    const shard = this.shardOf(name);
    const rest = this.ownersOf(name).filter((owner) => owner !== server);
    if (rest.length === 0) shard.delete(name);
    else shard.set(name, rest.length === 1 ? rest[0]! : rest);
    return rest.length === 1 ? rest[0] : undefined;
  }

  private shardOf(name: string): Map<string, Owners> {
    // Hashes only the length and the last four characters: the names of one server differ most at their ends.
    let hash = name.length;
    for (let at = Math.max(0, name.length - 4); at < name.length; at++)
      hash = hash * 31 + name.charCodeAt(at);
    return this.shards[hash % SHARD_COUNT]!;
  }
}
