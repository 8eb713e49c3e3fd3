import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { EventPattern, MessagePattern } from '@nestjs/microservices';
import { McpErrorFilter } from './mcp-error.filter.js';

/** Handlers carry this mark, so that no other transport of the application ever binds them. */
export const MCP = Symbol('MCP');

/** A class whose methods answer MCP methods. Guards, filters and injection are Nest's own. */
export const McpController = (): ClassDecorator => applyDecorators(Controller(), UseFilters(McpErrorFilter));

/** Answers one MCP request method, for instance `tools/call`. */
export const McpRequest = (method: string): MethodDecorator => MessagePattern(method, MCP);

/** Takes one MCP notification, for instance `notifications/cancelled`. */
export const McpNotification = (method: string): MethodDecorator =>
  EventPattern(method, MCP) as MethodDecorator;
