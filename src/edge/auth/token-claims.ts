import type { JWTPayload } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { ALL_PROJECTS, grantsOf, type Principal } from '../../mcp/principal.js';

/**
 * Returns the projects that the token grants: those of `auth.jwt.projects`, which every token grants, and those of its
 * projects claim. "All projects" in the claim counts only with `allowAllProjects`.
 */
export function grantsIn(claims: JWTPayload, settings: JwtSettings): Principal['grants'] {
  const claimed = wordsOf(claims[settings.projectsClaim]);
  const accepted = settings.allowAllProjects
    ? claimed
    : claimed.filter((project) => project !== ALL_PROJECTS);
  return grantsOf([...settings.projects, ...accepted]);
}

/** Whether the token has all these scopes. Issuers put them into the claim `scope` (RFC 9068) or `scp`. */
export function hasScopes(claims: JWTPayload, scopes: readonly string[]): boolean {
  const granted = new Set([...wordsOf(claims['scope']), ...wordsOf(claims['scp'])]);
  return scopes.every((scope) => granted.has(scope));
}

/** The words of a claim, which is a text with spaces between words, or a list of words. Any other claim has none. */
function wordsOf(claim: unknown): string[] {
  const words: unknown = typeof claim === 'string' ? claim.split(' ') : claim;
  if (!Array.isArray(words)) return [];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}
