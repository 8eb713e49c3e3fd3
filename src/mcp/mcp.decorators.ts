import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { McpErrorFilter } from './mcp-error.filter.js';

/** The transport id of MCP handlers, so that only `McpDispatcher` binds them. */
export const MCP = Symbol('MCP');

/** A class whose methods handle MCP methods. */
export const McpController = (): ClassDecorator => applyDecorators(Controller(), UseFilters(McpErrorFilter));

/** The key under which Nest stores the decorated parameters of a handler, read from a decorated method. */
const PARAMETERS_KEY: unknown = (() => {
  class Sample {
    handle(): void {}
  }
  Payload()(Sample.prototype, 'handle', 0);
  return Reflect.getMetadataKeys(Sample, 'handle')[0];
})();

/**
 * The arguments of every handler are the params of the message and its context, in this order and unchanged. An empty list of
 * decorated parameters makes Nest pass both on as they are. With `@Payload` and `@Ctx`, Nest would run its pipes: this costs
 * several promises per call, and MCP payloads must not pass through pipes.
 */
const ParamsAndContext: MethodDecorator = (target, key) =>
  Reflect.defineMetadata(PARAMETERS_KEY, {}, target.constructor, key);

/** Handles one MCP request method, for instance `tools/call`. */
export const McpRequest = (method: string): MethodDecorator =>
  applyDecorators(MessagePattern(method, MCP), ParamsAndContext);

/** Handles one MCP notification, for instance `notifications/cancelled`. */
export const McpNotification = (method: string): MethodDecorator =>
  applyDecorators(EventPattern(method, MCP) as MethodDecorator, ParamsAndContext);
