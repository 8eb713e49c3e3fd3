import { readConfig } from '../../src/config/load-config.js';
import type { AuthSettings } from '../../src/config/auth-settings.js';
import type { Authenticator } from '../../src/edge/auth/authenticator.js';
import { AuthenticationError } from '../../src/edge/auth/auth-errors.js';
import { JsonRpcError } from '../../src/mcp/json-rpc-error.js';
import type { Principal } from '../../src/mcp/principal.js';

/** The `auth` settings of a configuration file with this section. */
export const authSettings = (auth: object): AuthSettings =>
  readConfig({ text: JSON.stringify({ auth }), source: 'g.json', env: {} }).auth;

export interface Verdict {
  readonly status: number;
  readonly principal?: Principal;
  readonly message?: string;
  readonly challenge?: string;
}

/** The answer to a request with this Authorization header. */
export async function verdictOn(authenticator: Authenticator, authorization?: string): Promise<Verdict> {
  try {
    return { status: 200, principal: await authenticator.authenticate({ authorization }) };
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    const { http } = JsonRpcError.from(error);
    return { status: http, message: error.message, challenge: error.headers['www-authenticate'] };
  }
}

/** A clock that a test can advance. */
export class Clock {
  private aheadMs = 0;

  readonly now = (): number => Date.now() + this.aheadMs;

  forward(ms: number): void {
    this.aheadMs += ms;
  }
}
