import { RpcException } from '@nestjs/microservices';
import { RemoteError, ERROR_CODES, GatewayError, type ErrorKind } from '../core/errors.js';

/** An error in the form it has on the wire: `text` is the JSON-RPC error object. */
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

  /** The only reader of the code table. What it does not know is an internal error and keeps its cause to itself. */
  static from(exception: unknown): JsonRpcError {
    if (exception instanceof JsonRpcError) return exception;
    if (exception instanceof RemoteError)
      return new JsonRpcError('remote', 200, exception.code, exception.text, { cause: exception });
    if (exception instanceof GatewayError) return JsonRpcError.of(exception);
    if (exception instanceof RpcException)
      return JsonRpcError.of(new GatewayError('forbidden', 'Not allowed', undefined, { cause: exception }));
    return JsonRpcError.of(new GatewayError('internal', 'Internal error', undefined, { cause: exception }));
  }

  private static of(error: GatewayError): JsonRpcError {
    const { code, http } = ERROR_CODES[error.kind];
    const text = JSON.stringify({ code, message: error.message, data: error.data });
    return new JsonRpcError(error.kind, http, code, text, { cause: error });
  }
}
