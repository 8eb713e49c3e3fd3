import { createHash } from 'node:crypto';

/** The servers that a caller may see. A scope is computed once per request. Every list, call and notification uses one. */
export interface Scope {
  /** Scopes with equal keys allow the same servers: results for a scope can be cached by this key. */
  readonly key: string;
  allows(server: string): boolean;
}

export const EVERYTHING: Scope = { key: '*', allows: () => true };

/** The scope of a request before it is authorised. */
export const NOTHING: Scope = { key: '', allows: () => false };

export function scopeOf(servers: Iterable<string>): Scope {
  const allowed = new Set(servers);
  const key = createHash('sha256')
    .update(JSON.stringify([...allowed].toSorted()))
    .digest('base64url');
  return { key, allows: (server) => allowed.has(server) };
}
