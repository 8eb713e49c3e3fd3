import { hash } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { StoredPrincipal } from '../../state/session-records.js';
import type { ApiKeyConfig } from '../../config/api-key-config.js';
import type { AuthSettings } from '../../config/auth-settings.js';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { TokenBucket } from '../../lib/token-bucket/token-bucket.js';
import { ANONYMOUS, type Principal } from '../../mcp/principal.js';
import type { AuthFailure } from '../../metrics/metric-labels.js';
import { ApiKeys } from './api-keys.js';
import { AuthenticationError, TokenError, type TokenErrorKind } from './auth-errors.js';
import { readBearerToken } from './bearer-token.js';
import { challenge } from './challenge.js';
import { JwtVerifier } from './jwt-verifier.js';

/** Enough hex digits to correlate the log lines of one token without logging its whole digest. */
const LOGGED_DIGEST_LENGTH = 12;

/** At most ten log lines per second about refused credentials. Further refusals are only counted. */
const REFUSAL_LINE_LIMIT = { burst: 10, refill: 10, intervalMs: 1000 };

/** Counts refused credentials for the metrics. */
export interface RefusalObserver {
  countAuthFailure(reason: AuthFailure): void;
  countSuppressedLine(kind: 'refused-credentials'): void;
}

const NO_OBSERVER: RefusalObserver = { countAuthFailure: () => {}, countSuppressedLine: () => {} };

/** The headers of a request that may contain credentials. */
interface CredentialHeaders {
  readonly authorization?: string | undefined;
}

/** Determines the principal of a request from its Authorization header. */
export class Authenticator {
  private readonly logger = new Logger('Auth');
  private readonly apiKeys: ApiKeys;
  private jwtVerifier: JwtVerifier | undefined;
  private areCredentialsRequired = false;
  private readonly refusalLines = new TokenBucket(REFUSAL_LINE_LIMIT);

  constructor(
    private settings: AuthSettings,
    private readonly now: () => number = Date.now,
    private readonly observer = NO_OBSERVER,
    private readonly isRevoked: (key: ApiKeyConfig) => boolean = () => false,
  ) {
    this.apiKeys = new ApiKeys([], now);
    this.replace(settings);
  }

  /** Whether requests need credentials. */
  get isRequired(): boolean {
    return this.areCredentialsRequired;
  }

  get jwt(): JwtSettings | undefined {
    return this.settings.jwt;
  }

  /** Replaces the settings. All later requests are checked with the new settings. */
  replace(settings: AuthSettings): void {
    this.settings = settings;
    this.areCredentialsRequired = settings.isConfigured;
    this.apiKeys.replace((settings.apiKeys ?? []).filter((key) => !this.isRevoked(key)));
    if (JSON.stringify(settings.jwt) !== JSON.stringify(this.jwtVerifier?.settings))
      this.jwtVerifier = settings.jwt && new JwtVerifier(settings.jwt, this.now);
  }

  /** Fetches the issuer's keys before the first token arrives. Never rejects. */
  async prepare(): Promise<void> {
    await this.jwtVerifier?.prepare();
  }

  /**
   * Returns the principal of a request. Throws or rejects with an AuthenticationError if the credentials are refused.
   * Returns a promise only for a token that is not cached. `addressOf` returns the address of the client for the log.
   */
  authenticate(headers: CredentialHeaders, addressOf?: () => string): Principal | Promise<Principal> {
    if (!this.isRequired) return ANONYMOUS;
    const token = this.tokenIn(headers.authorization, addressOf);
    const digest = hash('sha256', token, 'hex');
    try {
      const principal = this.apiKeys.find(digest) ?? this.jwtVerifier?.findCached(digest);
      if (principal) return principal;
      if (!this.jwtVerifier || !isJwt(token)) throw new TokenError('invalid', this.reasonFor(digest));
    } catch (error) {
      throw this.recordRefusal(error, addressOf, digest);
    }
    return this.jwtVerifier.verify(token, digest).catch((error: unknown) => {
      throw this.recordRefusal(error, addressOf, digest);
    });
  }

  /**
   * Whether the credentials of the principal are still accepted. A session or a stream can stay open after its
   * credentials have become invalid, so open sessions and streams are checked with this method.
   */
  isCurrent(principal: Principal): boolean {
    if (!this.isRequired) return principal === ANONYMOUS;
    return this.apiKeys.isCurrent(principal) || this.jwtVerifier?.isCurrent(principal) === true;
  }

  /**
   * The principal as it is stored for the next process. `terms` is the digest of the settings of its credentials, and
   * `until` the time when its token expires. Undefined if its credentials are no longer valid.
   */
  storedForm(principal: Principal): StoredPrincipal | undefined {
    if (!this.isCurrent(principal)) return undefined;
    const { id } = principal;
    const grants = principal.grants === '*' ? '*' : [...principal.grants];
    if (!this.isRequired) return { id, grants, terms: '' };
    const settingsDigest = this.apiKeys.settingsDigestOf(principal);
    if (settingsDigest !== undefined) return { id, grants, terms: settingsDigest };
    const until = this.jwtVerifier?.expiryOf(principal);
    return this.jwtVerifier && until !== undefined
      ? { id, grants, terms: this.jwtVerifier.settingsDigest, until }
      : undefined;
  }

  /** The principal that the previous process stored, if the current settings would accept its credentials. */
  restorePrincipal({ id, grants, terms, until }: StoredPrincipal): Principal | undefined {
    if (!this.isRequired) return id === ANONYMOUS.id && terms === '' ? ANONYMOUS : undefined;
    if (until === undefined) return this.apiKeys.restorePrincipal(id, terms);
    if (terms !== this.jwtVerifier?.settingsDigest) return undefined;
    return this.jwtVerifier.restorePrincipal({ id, grants: grants === '*' ? '*' : new Set(grants) }, until);
  }

  /** Why no accepted key has this digest. The text is only logged, so it may name a revoked key. */
  private reasonFor(digest: string): string {
    const hasDigest = ({ hash: text }: ApiKeyConfig): boolean => text.toLowerCase() === `sha256:${digest}`;
    const revoked = this.settings.apiKeys?.find(hasDigest);
    return revoked ? `the key ${revoked.id} is revoked` : 'no such API key';
  }

  /** Returns the token in the Authorization header. Throws an AuthenticationError if there is no usable token. */
  private tokenIn(authorization: string | undefined, addressOf: (() => string) | undefined): string {
    const bearer = readBearerToken(authorization);
    switch (bearer.kind) {
      case 'token':
        return bearer.token;
      case 'none':
        this.observer.countAuthFailure('missing');
        throw new AuthenticationError(
          'unauthorized',
          'Unauthorized: a bearer token is required',
          challenge(this.jwt),
        );
      case 'malformed': {
        this.observer.countAuthFailure('malformed');
        const description = 'The Authorization header must have the form: Bearer <token>';
        this.logRefusal(description, addressOf);
        const bearerError = { error: 'invalid_request', description } as const;
        throw new AuthenticationError('bad-request', description, challenge(this.jwt, bearerError));
      }
      default: // too-long
        throw this.recordRefusal(new TokenError('invalid', 'the token is too long'), addressOf);
    }
  }

  /**
   * Counts and logs a refused token. Returns the error for the client. It contains only the kind of the `TokenError`,
   * not its message. An error of another class is returned unchanged.
   */
  private recordRefusal(error: unknown, addressOf?: () => string, digest?: string): unknown {
    if (!(error instanceof TokenError)) return error;
    this.observer.countAuthFailure(error.kind);
    this.logRefusal(error.message, addressOf, digest);
    return authenticationErrorFor(error, this.jwt);
  }

  private logRefusal(reason: string, addressOf?: () => string, digest?: string): void {
    // The number of suppressed lines since the last logged line; undefined if this line is suppressed too.
    const suppressedBefore = this.refusalLines.take();
    if (suppressedBefore === undefined) {
      this.observer.countSuppressedLine('refused-credentials');
      return;
    }
    this.logger.warn({
      message: 'token refused',
      reason,
      address: addressOf?.(),
      issuer: this.jwt?.issuer,
      digest: digest?.slice(0, LOGGED_DIGEST_LENGTH),
      ...(suppressedBefore > 0 && { suppressed: suppressedBefore }),
    });
  }
}

/** Whether the token looks like a JWT: it has three parts, and `ey` is the beginning of a JSON object in base64. */
const isJwt = (token: string): boolean => token.startsWith('ey') && token.split('.').length === 3;

const DESCRIPTIONS: Record<TokenErrorKind, string> = {
  invalid: 'The token is not valid',
  expired: 'The token has expired',
  'insufficient-scope': 'The token lacks a required scope',
  unverifiable: 'Tokens cannot be verified right now, try again later',
};

function authenticationErrorFor(cause: TokenError, jwt: JwtSettings | undefined): AuthenticationError {
  const { kind } = cause;
  const description = DESCRIPTIONS[kind];
  const options = { cause };
  if (kind === 'insufficient-scope')
    return new AuthenticationError(
      'insufficient-scope',
      `Forbidden: ${description}`,
      challenge(jwt, { error: 'insufficient_scope', description }),
      options,
    );
  // An `unverifiable` token may be valid. The error code `invalid_token` would make the client discard it.
  const bearerError =
    kind === 'unverifiable' ? undefined : ({ error: 'invalid_token', description } as const);
  return new AuthenticationError(
    'unauthorized',
    `Unauthorized: ${description}`,
    challenge(jwt, bearerError),
    options,
  );
}
