import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { StoredPrincipal } from '../../state/session-records.js';
import type { AuthSettings } from '../../config/auth-settings.js';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import type { AuthFailure } from '../../metrics/metrics.js';
import { ApiKeys } from './api-keys.js';
import { AuthenticationError, TokenError, type TokenErrorKind } from './auth-errors.js';
import { readBearerToken } from './bearer-token.js';
import { challenge } from './challenge.js';
import { JwtVerifier } from './jwt-verifier.js';

/** Enough digits to correlate log lines of one token without revealing the digest. */
const LOGGED_DIGEST_LENGTH = 12;

/** Determines the principal of a request from its Authorization header; no other part of the request matters. */
export class Authenticator {
  private readonly logger = new Logger('Auth');
  private readonly keys: ApiKeys;
  private tokens: JwtVerifier | undefined;
  private required = false;

  constructor(
    private settings: AuthSettings,
    private readonly now: () => number = Date.now,
    private readonly onFailure: (reason: AuthFailure) => void = () => {},
  ) {
    this.keys = new ApiKeys([], now);
    this.replace(settings);
  }

  /** Whether requests need credentials. */
  get isRequired(): boolean {
    return this.required;
  }

  get jwt(): JwtSettings | undefined {
    return this.settings.jwt;
  }

  /** The next request is checked with the new settings. */
  replace(settings: AuthSettings): void {
    this.settings = settings;
    this.required = settings.isConfigured;
    this.keys.replace(settings.apiKeys ?? []);
    if (JSON.stringify(settings.jwt) !== JSON.stringify(this.tokens?.settings))
      this.tokens = settings.jwt && new JwtVerifier(settings.jwt, this.now);
  }

  /** Fetches the issuer's keys before the first token comes. Never rejects. */
  async prepare(): Promise<void> {
    await this.tokens?.prepare();
  }

  /** Returns a promise only for a token that is not cached. Throws or rejects with an AuthenticationError. */
  authenticate(headers: { readonly authorization?: string | undefined }): Principal | Promise<Principal> {
    if (!this.required) return ANONYMOUS;
    const token = this.tokenIn(headers.authorization);
    const digest = hash('sha256', token, 'hex');
    try {
      const principal = this.keys.find(digest) ?? this.tokens?.cached(digest);
      if (principal) return principal;
      if (!this.tokens || !isJwt(token)) throw new TokenError('invalid', 'no such key');
    } catch (error) {
      throw this.reject(error, digest);
    }
    return this.tokens.verify(token, digest).catch((error: unknown) => {
      throw this.reject(error, digest);
    });
  }

  /** Whether the credentials of the principal would be accepted again. For streams, which outlive their request. */
  isCurrent(principal: Principal): boolean {
    if (!this.isRequired) return principal === ANONYMOUS;
    return this.keys.isCurrent(principal) || this.tokens?.isCurrent(principal) === true;
  }

  /** The principal as it is stored for the next process. Undefined when its credentials are no longer valid. */
  storedForm(principal: Principal): StoredPrincipal | undefined {
    if (!this.isCurrent(principal)) return undefined;
    const { id } = principal;
    const grants = principal.grants === '*' ? '*' : [...principal.grants];
    if (!this.isRequired) return { id, grants, terms: '' };
    const terms = this.keys.termsOf(principal);
    if (terms !== undefined) return { id, grants, terms };
    const until = this.tokens?.expiryOf(principal);
    return this.tokens && until !== undefined ? { id, grants, terms: this.tokens.terms, until } : undefined;
  }

  /** The principal of the previous process, if its credentials would be accepted under the current settings. */
  restorePrincipal({ id, grants, terms, until }: StoredPrincipal): Principal | undefined {
    if (!this.isRequired) return id === ANONYMOUS.id && terms === '' ? ANONYMOUS : undefined;
    if (until === undefined) return this.keys.restorePrincipal(id, terms);
    if (terms !== this.tokens?.terms) return undefined;
    return this.tokens.restorePrincipal({ id, grants: grants === '*' ? '*' : new Set(grants) }, until);
  }

  private tokenIn(authorization: string | undefined): string {
    const bearer = readBearerToken(authorization);
    switch (bearer.kind) {
      case 'token':
        return bearer.token;
      case 'none':
        this.onFailure('missing');
        throw new AuthenticationError(
          'unauthorized',
          'Unauthorized: a bearer token is required',
          challenge(this.jwt),
        );
      case 'malformed': {
        this.onFailure('malformed');
        const description = 'The Authorization header must be Bearer and one token';
        const fault = { error: 'invalid_request', description } as const;
        throw new AuthenticationError('bad-request', description, challenge(this.jwt, fault));
      }
      default:
        throw this.reject(new TokenError('invalid', 'the token is too long'));
    }
  }

  /** Logs the reason; the client gets only its kind. */
  private reject(error: unknown, digest?: string): unknown {
    if (!(error instanceof TokenError)) return error;
    this.onFailure(error.kind);
    this.logger.warn({
      message: 'token refused',
      reason: error.message,
      issuer: this.jwt?.issuer,
      digest: digest?.slice(0, LOGGED_DIGEST_LENGTH),
    });
    return authenticationErrorFor(error, this.jwt);
  }
}

/** Three parts, and the first begins like a JSON object in base64. */
const isJwt = (token: string): boolean => token.startsWith('ey') && token.split('.').length === 3;

const DESCRIPTIONS: Record<TokenErrorKind, string> = {
  invalid: 'The token is not valid',
  expired: 'The token has expired',
  'insufficient-scope': 'The token lacks a scope',
  unverifiable: 'Tokens cannot be verified right now, try again later',
};

function authenticationErrorFor(refusal: TokenError, jwt: JwtSettings | undefined): AuthenticationError {
  const { kind } = refusal;
  const description = DESCRIPTIONS[kind];
  const options = { cause: refusal };
  if (kind === 'insufficient-scope')
    return new AuthenticationError(
      'insufficient-scope',
      `Forbidden: ${description}`,
      challenge(jwt, { error: 'insufficient_scope', description }),
      options,
    );
  // A client discards a token that is called invalid.
  const fault = kind === 'unverifiable' ? undefined : ({ error: 'invalid_token', description } as const);
  return new AuthenticationError(
    'unauthorized',
    `Unauthorized: ${description}`,
    challenge(jwt, fault),
    options,
  );
}
