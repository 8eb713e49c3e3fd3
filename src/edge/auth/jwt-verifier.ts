import { hash } from 'node:crypto';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import type { Principal } from '../../mcp/principal.js';
import { KEY_REFRESH_AGE_MS, IssuerKeys } from './issuer-keys.js';
import { TokenError } from './auth-errors.js';
import { grantsIn, hasScopes } from './token-claims.js';
import { VerifiedTokens } from './verified-tokens.js';

const CLOCK_TOLERANCE_S = 60;

/** Verifies JWTs of one issuer. */
export class JwtVerifier {
  private readonly keys: IssuerKeys;
  private readonly verifiedTokens = new VerifiedTokens();
  /** By principal: when its token expires, in milliseconds since the epoch. */
  private readonly expiries = new WeakMap<Principal, number>();

  constructor(
    readonly settings: JwtSettings,
    private readonly now: () => number = Date.now,
  ) {
    this.keys = new IssuerKeys(settings, () => this.verifiedTokens.clear(), now);
  }

  /** Fetches the issuer's keys. Never rejects. */
  prepare(): Promise<void> {
    return this.keys.refresh();
  }

  /** The principal of a token with this SHA-256, if it was verified recently. */
  findCached(digest: string): Principal | undefined {
    return this.verifiedTokens.get(digest, this.now());
  }

  /** Resolves with the principal of the token. Rejects with a TokenError if the token is refused. */
  async verify(token: string, digest: string): Promise<Principal> {
    const claims = await this.claimsOf(token);
    const { iss, sub, exp } = claims;
    if (typeof sub !== 'string' || sub === '') throw new TokenError('invalid', 'the token names no subject');
    if (!hasScopes(claims, this.settings.scopes))
      throw new TokenError('insufficient-scope', `the token of ${sub} lacks a scope of auth.jwt.scopes`);
    const principal = { id: `${iss}|${sub}`, grants: grantsIn(claims, this.settings) };
    const expiresAt = (exp! + CLOCK_TOLERANCE_S) * 1000;
    this.expiries.set(principal, expiresAt);
    // The token is verified again after at most KEY_REFRESH_AGE_MS, so that the token is refused if the issuer has removed
    // the key that signed it.
    this.verifiedTokens.add(digest, {
      principal,
      validUntil: Math.min(expiresAt, this.now() + KEY_REFRESH_AGE_MS),
    });
    return principal;
  }

  /** Whether the token of the principal is still valid. */
  isCurrent(principal: Principal): boolean {
    return this.now() < (this.expiries.get(principal) ?? -Infinity);
  }

  /**
   * The digest of the settings. It is stored with a session, so that the session is not restored if the settings have
   * changed.
   */
  get settingsDigest(): string {
    return hash('sha256', JSON.stringify(this.settings), 'hex');
  }

  /** When the token of the principal expires; undefined if the principal has no token. */
  expiryOf(principal: Principal): number | undefined {
    return this.expiries.get(principal);
  }

  /**
   * Accepts a principal that the gateway process before this one has stored, until the token of the principal expires.
   * Returns undefined if the token has expired already.
   */
  restorePrincipal(principal: Principal, expiresAt: number): Principal | undefined {
    if (this.now() >= expiresAt) return undefined;
    this.expiries.set(principal, expiresAt);
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

/**
 * The error of jose as a `TokenError`. Its message can be logged: jose names claims and headers, but never their
 * values.
 */
function tokenErrorFor(error: Error): TokenError {
  if (error instanceof TokenError) return error;
  const kind = error instanceof errors.JWTExpired ? 'expired' : 'invalid';
  return new TokenError(kind, error.message, { cause: error });
}
