import { GatewayError } from '../../core/errors.js';

/** The error for a request without valid credentials. `headers` tell the client how to get credentials. */
export class AuthenticationError extends GatewayError {
  readonly headers: { readonly 'www-authenticate': string };

  constructor(
    kind: 'unauthorized' | 'insufficient-scope' | 'bad-request',
    message: string,
    challenge: string,
    options?: ErrorOptions,
  ) {
    super(kind, message, undefined, options);
    this.headers = { 'www-authenticate': challenge };
  }
}

/** `unverifiable`: the keys of the issuer are not available. */
export type TokenErrorKind = 'invalid' | 'expired' | 'insufficient-scope' | 'unverifiable';

/** The reason why a token is refused. The message is only logged, and contains no part of the token. */
export class TokenError extends Error {
  override readonly name = 'TokenError';

  constructor(
    readonly kind: TokenErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
