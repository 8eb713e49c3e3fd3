import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { GatewayError } from '../core/errors.js';

/**
 * Declares the guards of a class or method of `McpEndpoint`. With `@UseGuards`, Nest would run them asynchronously, so that
 * Node buffers the body before the handler reads it. This would cost 13 µs a call (docs/decisions/0002).
 */
export const HttpGuards = Reflector.createDecorator<readonly Type<CanActivate>[]>();

/** The part of Nest's execution context that guards of HTTP requests use. */
type HttpContext = Pick<ExecutionContext, 'switchToHttp'>;

type Handler = (request: IncomingMessage, response: ServerResponse, project?: string) => unknown;

/**
 * Returns a function that runs the guards of the class and of the method, and then the method. Guards run synchronously
 * unless one returns a promise. A guard refuses a request by throwing or by returning false, or by a promise of either.
 */
export function withGuards(instance: object, method: string, moduleRef: ModuleRef): Handler {
  const handler = Reflect.get(instance, method) as Handler;
  const types = [instance.constructor as Type, handler].flatMap(
    (target) => new Reflector().get(HttpGuards, target) ?? [],
  );
  const guards = types.map((type) => moduleRef.get<CanActivate>(type, { strict: false }));
  return (request, response, project) => {
    const pending = runGuards(guards, 0, contextOf(request, response));
    if (pending === undefined) return handler.call(instance, request, response, project);
    return pending.then(() => handler.call(instance, request, response, project));
  };
}

/** Runs the guards from the index `from` on. Returns a promise only if a guard does. */
function runGuards(
  guards: readonly CanActivate[],
  from: number,
  context: ExecutionContext,
): Promise<void> | undefined {
  for (let index = from; index < guards.length; index++) {
    const result = guards[index]!.canActivate(context);
    if (typeof result !== 'boolean')
      return Promise.resolve(result).then((allows) => {
        requireAllowed(allows);
        return runGuards(guards, index + 1, context);
      });
    requireAllowed(result);
  }
  return undefined;
}

/** Throws for anything but `true`, also for an Observable, which Nest would accept from a guard. */
function requireAllowed(allows: unknown): void {
  if (allows !== true) throw new GatewayError('forbidden', 'Forbidden');
}

function contextOf(request: IncomingMessage, response: ServerResponse): ExecutionContext {
  const http = { getRequest: () => request, getResponse: () => response };
  const context: HttpContext = { switchToHttp: () => http as ReturnType<ExecutionContext['switchToHttp']> };
  return context as ExecutionContext;
}
