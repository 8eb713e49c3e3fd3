import { Injectable } from '@nestjs/common';
import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { unknownMethod } from '../core/errors.js';
import type { Params } from './json-rpc.js';
import { MCP } from './mcp.decorators.js';
import type { McpContext } from './mcp-context.js';

/**
 * Dispatches MCP messages to Nest handlers. For Nest it is a microservice transport, so Nest runs the guards and filters
 * of the handlers and injects their services. It opens no socket.
 */
@Injectable()
export class McpDispatcher extends Server implements CustomTransportStrategy {
  override readonly transportId = MCP;

  listen(ready: () => void): void {
    ready();
  }

  close(): void {}

  on(): void {}

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the signature is the base class's
  unwrap<T>(): T {
    throw new Error('McpDispatcher wraps no server');
  }

  /** Whether there is a handler for this request method. */
  handles(method: string): boolean {
    const handler = this.messageHandlers.get(method);
    return handler !== undefined && !handler.isEventHandler;
  }

  /** Runs guards, handler and filter of one request method. Rejects only with a JsonRpcError. */
  dispatchRequest(context: McpContext, params: Params | undefined): Promise<unknown> {
    const { method, revision } = context;
    const handler = revision.methods.has(method) ? this.messageHandlers.get(method) : undefined;
    return handler && !handler.isEventHandler
      ? handler(params, context).then(valueOf)
      : Promise.reject(revision.errorOf(unknownMethod(method)));
  }

  /** A notification without a handler is ignored, as JSON-RPC requires. */
  async dispatchNotification(context: McpContext, params: Params | undefined): Promise<void> {
    const handler = this.messageHandlers.get(context.method);
    if (!handler?.isEventHandler) return;
    await handler(params, context).then(valueOf);
  }
}

/**
 * The result of a Nest handler. If the handler or a guard has thrown, Nest resolves with the Observable of the filter instead.
 * The promise that is returned then rejects with the error of the Observable.
 */
const valueOf = (result: unknown): unknown =>
  isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
