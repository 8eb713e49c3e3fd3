/** `unverifiable`: nobody can say, because the keys of the issuer are out of reach. */
export type TokenErrorKind = 'invalid' | 'expired' | 'insufficient-scope' | 'unverifiable';

/** Why a token is not taken. The message is for the log and names no part of the token; a client learns the kind. */
export class TokenError extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly kind: TokenErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
