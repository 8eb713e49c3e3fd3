/** Why a request to the gateway failed. */
export type GatewayProblemKind = 'unreachable' | 'not-allowed' | 'not-found' | 'refused';

/** A failed request to the gateway, with a message for the user. */
export class GatewayProblem extends Error {
  override readonly name = 'GatewayProblem';

  constructor(
    readonly kind: GatewayProblemKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Texts for the user, by the error code of Node or undici. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was lost',
  UND_ERR_SOCKET: 'the connection was lost',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name cannot be resolved right now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'it does not respond',
  UND_ERR_CONNECT_TIMEOUT: 'it does not respond',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** The problem of a request without a response. */
export function unreachable(url: string, error: unknown): GatewayProblem {
  return new GatewayProblem('unreachable', `cannot reach the gateway at ${url}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** Whether the connection was refused or was not opened in time. The gateway then cannot have received the request. */
export function isConnectFailure(error: unknown): boolean {
  const { code, cause, errors } = (error ?? {}) as Failure;
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  const wrapped = Array.isArray(errors) ? (errors[0] as unknown) : cause;
  return wrapped !== undefined && isConnectFailure(wrapped);
}

interface Failure {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/**
 * Why the request failed, as a text for the user. `fetch` wraps the error of the connection. If the host has several
 * addresses, that error may wrap one error for each address.
 */
function reasonOf(error: unknown): string {
  const { name, message, code, cause, errors } = (error ?? {}) as Failure;
  if (name === 'TimeoutError') return 'it does not respond in time';
  const text = CAUSES[String(code)];
  if (text !== undefined) return text;
  const wrapped = Array.isArray(errors) ? (errors[0] as unknown) : cause;
  if (wrapped !== undefined) return reasonOf(wrapped);
  return typeof message === 'string' && message !== '' ? message : String(code ?? error);
}
