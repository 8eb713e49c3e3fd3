import type { JWTPayload } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { ALL_PROJECTS, grantsOf, type Principal } from '../../mcp/principal.js';

/** The projects that the configuration grants to every token, and those in the token's claim. */
export function grantsIn(claims: JWTPayload, settings: JwtSettings): Principal['grants'] {
  const claimed = wordsOf(claims[settings.projectsClaim]);
  const accepted = settings.allowAllProjects
    ? claimed
    : claimed.filter((project) => project !== ALL_PROJECTS);
  return grantsOf([...settings.projects, ...accepted]);
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
