import type { Steps } from '../../../lib/slices/run-sliced.js';

const SHARD_COUNT = 256;

/** The only server, or an array of several servers. Most URIs have one server, and an array for it would take more memory. */
type Servers = string | readonly string[];

/**
 * Maps own URIs to the servers that list them. URIs are divided into many small Maps (shards), because a Map with a
 * million URIs blocks the event loop when it grows.
 */
export class ServersByUri {
  private shards = Array.from({ length: SHARD_COUNT }, () => new Map<string, Servers>());

  /** A copy to which changes can be made independently. */
  *fork(): Steps<ServersByUri> {
    const fork = new ServersByUri();
    fork.shards = [];
    for (const shard of this.shards) {
      fork.shards.push(new Map(shard));
      yield;
    }
    return fork;
  }

  has(uri: string): boolean {
    return this.shardOf(uri).has(uri);
  }

  /** Whether several servers list the URI. */
  isShared(uri: string): boolean {
    return typeof this.shardOf(uri).get(uri) === 'object';
  }

  serversOf(uri: string): readonly string[] {
    const servers = this.shardOf(uri).get(uri) ?? [];
    return typeof servers === 'string' ? [servers] : servers;
  }

  /** Adds a server. Returns the only server that listed the URI before, if there was exactly one. */
  add(uri: string, server: string): string | undefined {
    const shard = this.shardOf(uri);
    const servers = shard.get(uri);
    if (servers === undefined) shard.set(uri, server);
    else shard.set(uri, [...this.serversOf(uri), server]);
    return typeof servers === 'string' ? servers : undefined;
  }

  /** Removes a server. Returns the only server that still lists the URI, if there is exactly one. */
  delete(uri: string, server: string): string | undefined {
    const shard = this.shardOf(uri);
    const rest = this.serversOf(uri).filter((other) => other !== server);
    if (rest.length === 0) shard.delete(uri);
    else shard.set(uri, rest.length === 1 ? rest[0]! : rest);
    return rest.length === 1 ? rest[0] : undefined;
  }

  private shardOf(uri: string): Map<string, Servers> {
    return this.shards[shardIndexOf(uri)]!;
  }
}

/**
 * Hashes the whole URI (FNV-1a), because the URIs of one server may differ only in the middle, as `…/1.json` and `…/2.json`
 * do.
 */
export function shardIndexOf(uri: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < uri.length; at++) hash = Math.imul(hash ^ uri.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % SHARD_COUNT;
}
