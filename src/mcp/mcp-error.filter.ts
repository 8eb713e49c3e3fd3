import { Catch, type ArgumentsHost, type RpcExceptionFilter } from '@nestjs/common';
import { throwError, type Observable } from 'rxjs';
import { JsonRpcError } from './json-rpc-error.js';

/** Whatever a guard or handler of an MCP method throws leaves it as the right JSON-RPC error. */
@Catch()
export class McpErrorFilter implements RpcExceptionFilter {
  catch(exception: unknown, _host: ArgumentsHost): Observable<never> {
    return throwError(() => JsonRpcError.from(exception));
  }
}
