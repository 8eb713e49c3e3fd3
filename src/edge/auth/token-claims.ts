import type { JWTPayload } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import type { Principal } from '../../mcp/principal.js';
import { ALL, grantsOf } from './grants.js';

/** What the token may use: what the config gives every token, and what the claim names besides. */
export function grantsIn(claims: JWTPayload, settings: JwtSettings): Principal['grants'] {
  const claimed = wordsOf(claims[settings.projectsClaim]);
  const believed = settings.allowAllProjects ? claimed : claimed.filter((project) => project !== ALL);
  return grantsOf([...settings.projects, ...believed]);
}

/** Issuers call the claim `scope` (RFC 9068) or `scp`. */
export function hasScopes(claims: JWTPayload, scopes: readonly string[]): boolean {
  const given = new Set([...wordsOf(claims['scope']), ...wordsOf(claims['scp'])]);
  return scopes.every((scope) => given.has(scope));
}

function wordsOf(claim: unknown): string[] {
  const words: unknown[] = typeof claim === 'string' ? claim.split(' ') : Array.isArray(claim) ? claim : [];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}
