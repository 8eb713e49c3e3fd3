import { Injectable } from '@nestjs/common';
import { Server, type CustomTransportStrategy } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { GatewayError } from '../core/errors.js';
import { JsonRpcError } from './json-rpc-error.js';
import type { Params } from './json-rpc.js';
import { MCP } from './mcp.decorators.js';
import type { McpContext } from './mcp-context.js';

/**
 * Brings MCP methods to their Nest handlers. To Nest it is a microservice transport, so every handler runs
 * behind the guards and filters that Nest's own metadata puts before it; it listens to nothing itself.
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
    throw new Error('the dispatcher has no server underneath');
  }

  /** Whether there is a handler for this request method. */
  handles(method: string): boolean {
    const handler = this.messageHandlers.get(method);
    return handler !== undefined && !handler.isEventHandler;
  }

  /** Runs guards, handler and filter of one request method. Rejects with a JsonRpcError and nothing else. */
  async request(context: McpContext, params: Params | undefined): Promise<unknown> {
    const handler = this.messageHandlers.get(context.method);
    if (!handler || handler.isEventHandler)
      throw JsonRpcError.from(
        new GatewayError('method-not-found', `Method not found: ${context.method}`),
        context.revision.era,
      );
    const result: unknown = await handler(params, context);
    return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
  }

  /** Hands a notification to its handlers; one that nobody takes is ignored, as JSON-RPC asks. */
  async notification(context: McpContext, params: Params | undefined): Promise<void> {
    const handler = this.messageHandlers.get(context.method);
    if (!handler?.isEventHandler) return;
    const result: unknown = await handler(params, context);
    if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
  }
}
