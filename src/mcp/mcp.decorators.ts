import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { McpErrorFilter } from './mcp-error.filter.js';

/** The transport of MCP handlers: no other transport of the application binds them. */
export const MCP = Symbol('MCP');

/** A class whose methods handle MCP methods. */
export const McpController = (): ClassDecorator => applyDecorators(Controller(), UseFilters(McpErrorFilter));

/** Every handler takes the params of the message and its context, in this order. */
const ParamsAndContext: MethodDecorator = (target, key) => {
  Payload()(target, key, 0);
  Ctx()(target, key, 1);
};

/** Handles one MCP request method, for instance `tools/call`. */
export const McpRequest = (method: string): MethodDecorator =>
  applyDecorators(MessagePattern(method, MCP), ParamsAndContext);

/** Handles one MCP notification, for instance `notifications/cancelled`. */
export const McpNotification = (method: string): MethodDecorator =>
  applyDecorators(EventPattern(method, MCP) as MethodDecorator, ParamsAndContext);
