import { Injectable } from '@nestjs/common';
import { GatewayError } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Params } from '../mcp/json-rpc.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { Registry } from './registry.service.js';

/** A tool of the gateway itself. */
export interface HouseTool {
  readonly name: string;
  /** As clients see it in the list. */
  readonly definition: object;
  call(args: Params, context: McpContext): JsonText | Promise<JsonText>;
}

/** The tools that the gateway has itself, whoever provides them. */
@Injectable()
export class HouseTools {
  private readonly tools = new Map<string, HouseTool>();

  constructor(private readonly registry: Registry) {}

  offer(tools: readonly HouseTool[]): void {
    for (const tool of tools) this.tools.set(tool.name, tool);
    this.registry.offerTools(
      [...this.tools.values()].map(({ name, definition }) => ({ name, text: JSON.stringify(definition) })),
    );
  }

  call(name: string, args: unknown, context: McpContext): JsonText | Promise<JsonText> {
    const tool = this.tools.get(name);
    if (!tool) throw new GatewayError('tool-not-found', `Unknown tool: ${name}`);
    return tool.call((args ?? {}) as Params, context);
  }
}
