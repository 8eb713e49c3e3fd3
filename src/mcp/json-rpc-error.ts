import { RpcException } from '@nestjs/microservices';
import { codesFor, GatewayError, RemoteError, type Era, type ErrorKind } from '../core/errors.js';

/** An error with its JSON-RPC code and HTTP status. `text` is the JSON-RPC error object. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';

  private constructor(
    readonly kind: ErrorKind | 'remote',
    readonly http: number,
    readonly code: number,
    readonly text: string,
    options: ErrorOptions,
  ) {
    super(text, options);
  }

  /** Converts an exception. One that is not foreseen becomes an internal error, whose cause is not sent. */
  static from(exception: unknown, era: Era = '2025'): JsonRpcError {
    if (exception instanceof JsonRpcError) return exception;
    if (exception instanceof RemoteError)
      return new JsonRpcError('remote', 200, exception.code, exception.text, { cause: exception });
    if (exception instanceof GatewayError) return JsonRpcError.of(exception, era);
    const options = { cause: exception };
    // Nest throws an RpcException when a guard returns false.
    if (exception instanceof RpcException)
      return JsonRpcError.of(new GatewayError('forbidden', 'Not allowed', undefined, options), era);
    return JsonRpcError.of(new GatewayError('internal', 'Internal error', undefined, options), era);
  }

  private static of(error: GatewayError, era: Era): JsonRpcError {
    const { code, http } = codesFor(error.kind, era);
    const text = JSON.stringify({ code, message: error.message, data: error.data });
    return new JsonRpcError(error.kind, http, code, text, { cause: error });
  }
}
