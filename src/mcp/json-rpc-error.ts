import { RpcException } from '@nestjs/microservices';
import {
  codesFor,
  ERROR_CODES,
  GatewayError,
  RemoteError,
  type Era,
  type ErrorKind,
} from '../core/errors.js';
import { mapMember } from '../lib/json-text/json-text.js';

/** An error with its JSON-RPC code and HTTP status. `text` is the JSON-RPC error object. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';

  private constructor(
    /** `remote` for an error of a server. */
    readonly kind: ErrorKind | 'remote',
    /** The HTTP status of the response. */
    readonly http: number,
    readonly code: number,
    readonly text: string,
    options: ErrorOptions,
  ) {
    super(text, options);
  }

  /** Converts an exception. An unexpected exception becomes an internal error; its text is not sent. */
  static from(exception: unknown, era: Era = '2025'): JsonRpcError {
    if (exception instanceof JsonRpcError) return exception;
    if (exception instanceof RemoteError) return JsonRpcError.ofRemote(exception, era);
    if (exception instanceof GatewayError) return JsonRpcError.of(exception, era);
    const options = { cause: exception };
    // Nest throws an RpcException when a guard returns false.
    if (exception instanceof RpcException)
      return JsonRpcError.of(new GatewayError('forbidden', 'Not allowed', undefined, options), era);
    return JsonRpcError.of(new GatewayError('internal', 'Internal error', undefined, options), era);
  }

  /**
   * The text and code of a server's error are forwarded unchanged, and the HTTP status is 200. Revision 2026-07-28 differs in
   * two cases: it forbids the code -32002, and it requires HTTP 400 for a missing capability of the client.
   */
  private static ofRemote(error: RemoteError, era: Era): JsonRpcError {
    const { code, text } = error;
    const options = { cause: error };
    if (era === '2025') return new JsonRpcError('remote', 200, code, text, options);
    if (code === ERROR_CODES['missing-capability'].code)
      return new JsonRpcError('remote', ERROR_CODES['missing-capability'].http, code, text, options);
    const { code: notFound2025, code2026: notFound2026 } = ERROR_CODES['resource-not-found'];
    if (code !== notFound2025) return new JsonRpcError('remote', 200, code, text, options);
    const modernText = mapMember(text, 'code', () => String(notFound2026));
    return new JsonRpcError('remote', 200, notFound2026, modernText, options);
  }

  private static of(error: GatewayError, era: Era): JsonRpcError {
    const { code, http } = codesFor(error.kind, era);
    const text = JSON.stringify({ code, message: error.message, data: error.data });
    return new JsonRpcError(error.kind, http, code, text, { cause: error });
  }
}
