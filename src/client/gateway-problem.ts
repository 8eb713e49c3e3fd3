/** Why a request to the gateway failed. */
export type GatewayProblemKind = 'unreachable' | 'not-allowed' | 'not-found' | 'refused';

/** A failed request, with a message for the user. Not an error of the program. */
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

/** The problem of a request that got no response. */
export function unreachable(url: string, error: unknown): GatewayProblem {
  return new GatewayProblem('unreachable', `cannot reach the gateway at ${url}: ${reasonOf(error)}`, {
    cause: error,
  });
}

/** Whether opening the connection failed, so that the request cannot have arrived. */
export function isRefusedConnection(error: unknown): boolean {
  const { code, cause, errors } = (error ?? {}) as Failure;
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  const inner = Array.isArray(errors) ? (errors[0] as unknown) : cause;
  return inner !== undefined && isRefusedConnection(inner);
}

interface Failure {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** fetch wraps the cause, and the cause may be a list with one error per address. */
function reasonOf(error: unknown): string {
  const { name, message, code, cause, errors } = (error ?? {}) as Failure;
  if (name === 'TimeoutError') return 'it does not respond in time';
  const known = CAUSES[String(code)];
  if (known !== undefined) return known;
  const inner = Array.isArray(errors) ? (errors[0] as unknown) : cause;
  if (inner !== undefined) return reasonOf(inner);
  return typeof message === 'string' && message !== '' ? message : String(code ?? error);
}
