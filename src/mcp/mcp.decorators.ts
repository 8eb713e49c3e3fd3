import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { PARAM_ARGS_METADATA } from '@nestjs/microservices/constants.js';
import { McpErrorFilter } from './mcp-error.filter.js';

/** Handlers carry this mark, so that no other transport of the application ever binds them. */
export const MCP = Symbol('MCP');

/** A class whose methods answer MCP methods. Guards, filters and injection are Nest's own. */
export const McpController = (): ClassDecorator => applyDecorators(Controller(), UseFilters(McpErrorFilter));

/**
 * A handler takes the params of the message and its context, in this order, as they are. Nest would send parameters
 * through its pipes: half a dozen promises a call, for pipes that MCP payloads must never meet.
 */
const RawArguments: MethodDecorator = (target, key) =>
  Reflect.defineMetadata(PARAM_ARGS_METADATA, {}, target.constructor, key);

/** Answers one MCP request method, for instance `tools/call`. */
export const McpRequest = (method: string): MethodDecorator =>
  applyDecorators(MessagePattern(method, MCP), RawArguments);

/** Takes one MCP notification, for instance `notifications/cancelled`. */
export const McpNotification = (method: string): MethodDecorator =>
  applyDecorators(EventPattern(method, MCP) as MethodDecorator, RawArguments);
