import { GatewayError } from '../../core/errors.js';

/** Nobody we know. The answer carries `headers`, which tell a client how to become somebody. */
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
