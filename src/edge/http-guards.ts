import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { GatewayError } from '../core/errors.js';

/**
 * Declares the guards of `McpEndpoint` or of one of its methods. `@UseGuards` is not used, because Nest runs its guards
 * asynchronously: Node would buffer the body before the handler reads it, which costs 13 µs a call
 * (docs/decisions/0002).
 */
export const HttpGuards = Reflector.createDecorator<readonly Type<CanActivate>[]>();

type Handler = (request: IncomingMessage, response: ServerResponse, project?: string) => unknown;

/**
 * Returns a function that runs the guards of the class, the guards of the method, and then the method. The function is
 * synchronous unless a guard returns a promise. A guard refuses a request if it throws or returns false, or if its
 * promise rejects or resolves with false.
 */
export function withGuards(instance: object, method: string, moduleRef: ModuleRef): Handler {
  const handler = Reflect.get(instance, method) as Handler;
  const guardTypes = [instance.constructor as Type, handler].flatMap(
    (target) => new Reflector().get(HttpGuards, target) ?? [],
  );
  const guards = guardTypes.map((type) => moduleRef.get<CanActivate>(type, { strict: false }));
  return (request, response, project) => {
    const pendingGuards = runGuards(
      guards,
      0,
      new HttpContext(request, response) as unknown as ExecutionContext,
    );
    if (pendingGuards === undefined) return handler.call(instance, request, response, project);
    return pendingGuards.then(() => handler.call(instance, request, response, project));
  };
}

/** Runs the guards from the index `from` on. Returns a promise only if a guard returns one. */
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

/** Throws unless the result of a guard is `true`. An Observable, which Nest would accept, is refused too. */
function requireAllowed(allows: unknown): void {
  if (allows !== true) throw new GatewayError('forbidden', 'Forbidden');
}

/** The part of Nest's execution context that guards of HTTP requests use. */
class HttpContext {
  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {}

  switchToHttp(): this {
    return this;
  }

  getRequest(): IncomingMessage {
    return this.request;
  }

  getResponse(): ServerResponse {
    return this.response;
  }
}
