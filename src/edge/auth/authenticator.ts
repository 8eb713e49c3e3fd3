import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { StoredPrincipal } from '../../state/session-records.js';
import type { AuthSettings } from '../../config/auth-settings.js';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import type { AuthFailure } from '../../metrics/metrics.js';
import { ApiKeys } from './api-keys.js';
import { AuthenticationError } from './authentication-error.js';
import { readBearerToken } from './bearer-token.js';
import { challenge } from './challenge.js';
import { JwtVerifier } from './jwt-verifier.js';
import { TokenError, type TokenErrorKind } from './token-error.js';

/** Enough of a digest to find the same token in two log lines, and too little to find the token. */
const LOGGED_DIGEST_LENGTH = 12;

/**
 * Finds out who sends a request, from its Authorization header and nothing else: no other header, no cookie and no
 * part of the URL can make somebody of nobody.
 */
export class Authenticator {
  private readonly logger = new Logger('Auth');
  private readonly keys: ApiKeys;
  private tokens: JwtVerifier | undefined;

  constructor(
    private settings: AuthSettings,
    private readonly now: () => number = Date.now,
    private readonly onFailure: (reason: AuthFailure) => void = () => {},
  ) {
    this.keys = new ApiKeys([], now);
    this.replace(settings);
  }

  /** Whether a request needs a credential. */
  get isRequired(): boolean {
    return this.settings.isConfigured;
  }

  get jwt(): JwtSettings | undefined {
    return this.settings.jwt;
  }

  /** Other settings take the place of these, for the very next request. */
  replace(settings: AuthSettings): void {
    this.settings = settings;
    this.keys.replace(settings.apiKeys ?? []);
    if (JSON.stringify(settings.jwt) !== JSON.stringify(this.tokens?.settings))
      this.tokens = settings.jwt && new JwtVerifier(settings.jwt, this.now);
  }

  /** Gets ready for the first token, so that it does not wait for the issuer's keys. Never rejects. */
  async prepare(): Promise<void> {
    await this.tokens?.prepare();
  }

  /**
   * A promise only for a token that was not seen lately. Throws, or rejects with, an AuthenticationError.
   */
  authenticate(headers: { readonly authorization?: string | undefined }): Principal | Promise<Principal> {
    if (!this.isRequired) return ANONYMOUS;
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

  /**
   * Whether what the principal came with would be taken again: its key was neither taken away nor changed, its token
   * has not expired. For whatever outlives the request, such as a stream.
   */
  isCurrent(principal: Principal): boolean {
    if (!this.isRequired) return principal === ANONYMOUS;
    return this.keys.isCurrent(principal) || this.tokens?.isCurrent(principal) === true;
  }

  /** What to keep of a principal so that a later life can recall it. Undefined when it is not current any more. */
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

  /** Whoever was let in in an earlier life, if the same would be let in now: as little may have changed as for a reload. */
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
        throw this.reject(new TokenError('invalid', 'longer than any token'));
    }
  }

  /** The log gets the reason. The client gets no more than helps one who has the right token. */
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

/** Three parts, the first of which is the beginning of a JSON object in base64. */
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
  // A token we could not look at is not called invalid: its owner would throw it away.
  const fault = kind === 'unverifiable' ? undefined : ({ error: 'invalid_token', description } as const);
  return new AuthenticationError(
    'unauthorized',
    `Unauthorized: ${description}`,
    challenge(jwt, fault),
    options,
  );
}
