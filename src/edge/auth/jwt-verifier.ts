import { hash } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import type { Principal } from '../../mcp/principal.js';
import { MAX_AGE_MS, IssuerKeys } from './issuer-keys.js';
import { TokenError } from './token-error.js';
import { grantsIn, hasScopes } from './token-claims.js';
import { VerifiedTokens } from './verified-tokens.js';

/** What clocks may differ by. */
const CLOCK_TOLERANCE_S = 60;

/** Checks the tokens of one issuer. */
export class JwtVerifier {
  private readonly keys: IssuerKeys;
  private readonly verified = new VerifiedTokens();
  private readonly expiries = new WeakMap<Principal, number>();

  constructor(
    readonly settings: JwtSettings,
    private readonly now: () => number = Date.now,
  ) {
    this.keys = new IssuerKeys(settings, () => this.verified.clear(), now);
  }

  /** Fetches the issuer's keys ahead of the first token. Never rejects. */
  prepare(): Promise<void> {
    return this.keys.refresh();
  }

  /** Who came with the token of this SHA-256 lately. */
  cached(digest: string): Principal | undefined {
    return this.verified.get(digest, this.now());
  }

  /** Rejects with a Refusal. */
  async verify(token: string, digest: string): Promise<Principal> {
    const claims = await this.claimsOf(token);
    const { iss, sub, exp } = claims;
    if (typeof sub !== 'string' || sub === '') throw new TokenError('invalid', 'the token names no subject');
    if (!hasScopes(claims, this.settings.scopes))
      throw new TokenError('insufficient-scope', `the token of ${sub} lacks a scope`);
    const principal = { id: `${iss}|${sub}`, grants: grantsIn(claims, this.settings) };
    const end = (exp! + CLOCK_TOLERANCE_S) * 1000;
    this.expiries.set(principal, end);
    // No longer than the keys are fresh: a token of a key that the issuer took away has to be noticed.
    this.verified.add(digest, { principal, until: Math.min(end, this.now() + MAX_AGE_MS) });
    return principal;
  }

  /** Whether the token that the principal came with has not expired yet. */
  isCurrent(principal: Principal): boolean {
    return this.now() < (this.expiries.get(principal) ?? -Infinity);
  }

  /** Under which settings tokens are taken. */
  get terms(): string {
    return hash('sha256', JSON.stringify(this.settings), 'hex');
  }

  /** When the token that the principal came with ends; undefined when it came with none of these. */
  expiryOf(principal: Principal): number | undefined {
    return this.expiries.get(principal);
  }

  /** Takes a principal of an earlier life for one whose token was verified, until that token ends. */
  restorePrincipal(principal: Principal, end: number): Principal | undefined {
    if (this.now() >= end) return undefined;
    this.expiries.set(principal, end);
    return principal;
  }

  private async claimsOf(token: string): Promise<JWTPayload> {
    const { issuer, audience, algorithms } = this.settings;
    try {
      const { payload } = await jwtVerify(token, this.keys.find, {
        issuer,
        audience,
        algorithms: [...algorithms],
        requiredClaims: ['exp', 'sub'],
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(this.now()),
      });
      return payload;
    } catch (error) {
      throw tokenErrorFor(error as Error);
    }
  }
}

/** jose's messages name claims and headers, never their values. */
function tokenErrorFor(error: Error): TokenError {
  if (error instanceof TokenError) return error;
  const kind = error instanceof errors.JWTExpired ? 'expired' : 'invalid';
  return new TokenError(kind, error.message, { cause: error });
}
