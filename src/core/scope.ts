import { createHash } from 'node:crypto';

/** Which servers a caller may see. One value, made once per request, used by every list, call and notification. */
export interface Scope {
  /** Equal keys see equal servers, so whatever is built for a scope can be kept under its key. */
  readonly key: string;
  allows(server: string): boolean;
}

export const EVERYTHING: Scope = { key: '*', allows: () => true };

/** What a request may see before anybody has found out what it may see. */
export const NOTHING: Scope = { key: '', allows: () => false };

export function scopeOf(servers: Iterable<string>): Scope {
  const allowed = new Set(servers);
  const key = createHash('sha256')
    .update(JSON.stringify([...allowed].toSorted()))
    .digest('base64url');
  return { key, allows: (server) => allowed.has(server) };
}
