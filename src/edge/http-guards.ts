import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { GatewayError } from '../core/errors.js';

/**
 * The guards of a class or method of `McpEndpoint`, like `@UseGuards`. Nest would run them asynchronously, and the body of
 * the request would then be buffered before the handler can read it, which costs 13 µs a call (docs/decisions/0002).
 */
export const HttpGuards = Reflector.createDecorator<readonly Type<CanActivate>[]>();

/** As much of Nest's execution context as the guards of HTTP requests use. */
type HttpContext = Pick<ExecutionContext, 'switchToHttp'>;

type Handler = (request: IncomingMessage, response: ServerResponse, project?: string) => unknown;

/**
 * Returns the method behind the guards of its class and its own guards. The guards run synchronously unless one returns
 * a promise; a guard refuses by throwing, by returning false, or by a promise that does either.
 */
export function guarded(instance: object, method: string, moduleRef: ModuleRef): Handler {
  const handler = Reflect.get(instance, method) as Handler;
  const declared = [instance.constructor as Type, handler].flatMap(
    (target) => new Reflector().get(HttpGuards, target) ?? [],
  );
  const guards = declared.map((type) => moduleRef.get<CanActivate>(type, { strict: false }));
  return (request, response, project) => {
    const passed = passGuards(guards, 0, contextOf(request, response));
    if (passed === undefined) return handler.call(instance, request, response, project);
    return passed.then(() => handler.call(instance, request, response, project));
  };
}

/** Returns a promise only if a guard does. */
function passGuards(
  guards: readonly CanActivate[],
  from: number,
  context: ExecutionContext,
): Promise<void> | undefined {
  for (let index = from; index < guards.length; index++) {
    const result = guards[index]!.canActivate(context);
    if (typeof result !== 'boolean')
      return Promise.resolve(result as Promise<boolean>).then((allows) => {
        requireAllowed(allows);
        return passGuards(guards, index + 1, context);
      });
    requireAllowed(result);
  }
  return undefined;
}

function requireAllowed(allows: boolean): void {
  if (!allows) throw new GatewayError('forbidden', 'Forbidden');
}

function contextOf(request: IncomingMessage, response: ServerResponse): ExecutionContext {
  const http = { getRequest: () => request, getResponse: () => response };
  const context: HttpContext = { switchToHttp: () => http as ReturnType<ExecutionContext['switchToHttp']> };
  return context as ExecutionContext;
}
