import { Catch, type ArgumentsHost, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import type { McpContext } from './mcp-context.js';

/** Whatever a guard or handler of an MCP method throws leaves it as the right JSON-RPC error. */
@Catch()
export class McpErrorFilter implements RpcExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): Observable<never> {
    const { revision } = host.switchToRpc().getContext<McpContext>();
    return throwError(() => revision.errorOf(exception));
  }
}
