import { Catch, type ArgumentsHost, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import type { McpContext } from './mcp-context.js';

/** Maps what guards and handlers of MCP methods throw to the JSON-RPC error of the client's revision. */
@Catch()
export class McpErrorFilter implements RpcExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): Observable<never> {
    const { revision } = host.switchToRpc().getContext<McpContext>();
    return throwError(() => revision.errorOf(exception));
  }
}
