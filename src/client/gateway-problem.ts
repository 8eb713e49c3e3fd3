/** Why a gateway did not do what it was asked. */
export type GatewayProblemKind = 'unreachable' | 'not-allowed' | 'not-found' | 'refused';

/** Something that whoever sits at the terminal has to know, in words for him; no fault of the program. */
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
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection broke',
  UND_ERR_SOCKET: 'the connection broke',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name cannot be resolved right now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted here; see NODE_EXTRA_CA_CERTS',
  CERT_HAS_EXPIRED: 'its certificate has expired',
};

/** What a request that got no answer failed of. */
export function unreachable(url: string, error: unknown): GatewayProblem {
  return new GatewayProblem('unreachable', `cannot reach the gateway at ${url}: ${reasonOf(error)}`, {
    cause: error,
  });
}

interface Failure {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** What broke is often wrapped: in what was tried, and in a list of the addresses that were tried. */
function reasonOf(error: unknown): string {
  const { name, message, code, cause, errors } = (error ?? {}) as Failure;
  if (name === 'TimeoutError') return 'it does not answer in time';
  const known = CAUSES[String(code)];
  if (known !== undefined) return known;
  const inner = Array.isArray(errors) ? (errors[0] as unknown) : cause;
  if (inner !== undefined) return reasonOf(inner);
  return typeof message === 'string' && message !== '' ? message : String(code ?? error);
}
