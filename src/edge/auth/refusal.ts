/** `unverifiable`: nobody can say, because the keys of the issuer are out of reach. */
export type RefusalKind = 'invalid' | 'expired' | 'insufficient-scope' | 'unverifiable';

/** Why a token is not taken. The message is for the log and names no part of the token; a client learns the kind. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly kind: RefusalKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
