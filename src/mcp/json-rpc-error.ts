import { RpcException } from '@nestjs/microservices';
import { answerTo, GatewayError, RemoteError, type Era, type ErrorKind } from '../core/errors.js';

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
  static from(exception: unknown, era: Era = '2025'): JsonRpcError {
    if (exception instanceof JsonRpcError) return exception;
    if (exception instanceof RemoteError)
      return new JsonRpcError('remote', 200, exception.code, exception.text, { cause: exception });
    if (exception instanceof GatewayError) return JsonRpcError.of(exception, era);
    const options = { cause: exception };
    if (exception instanceof RpcException)
      return JsonRpcError.of(new GatewayError('forbidden', 'Not allowed', undefined, options), era);
    return JsonRpcError.of(new GatewayError('internal', 'Internal error', undefined, options), era);
  }

  private static of(error: GatewayError, era: Era): JsonRpcError {
    const { code, http } = answerTo(error.kind, era);
    const text = JSON.stringify({ code, message: error.message, data: error.data });
    return new JsonRpcError(error.kind, http, code, text, { cause: error });
  }
}
