import { Injectable } from '@nestjs/common';
import { unknownTool } from '../core/errors.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Params } from '../mcp/json-rpc.js';
import type { McpContext } from '../mcp/mcp-context.js';
import { Registry } from './registry.service.js';

/** A tool of the gateway itself. */
export interface MetaTool {
  readonly name: string;
  /** As it appears in `tools/list`. */
  readonly definition: object;
  call(args: Params, context: McpContext): JsonText | Promise<JsonText>;
}

/** Registers the meta tools in the catalog, and calls them. */
@Injectable()
export class MetaToolRegistry {
  private readonly tools = new Map<string, MetaTool>();

  constructor(private readonly registry: Registry) {}

  /** Adds tools to those that were registered before. Resolves when they are in the catalog. */
  async register(tools: readonly MetaTool[]): Promise<void> {
    for (const tool of tools) this.tools.set(tool.name, tool);
    await this.registry.putMetaTools(
      [...this.tools.values()].map(({ name, definition }) => ({ name, text: JSON.stringify(definition) })),
    );
  }

  /** Throws when no meta tool has this name. */
  call(name: string, args: unknown, context: McpContext): JsonText | Promise<JsonText> {
    const tool = this.tools.get(name);
    if (!tool) throw unknownTool(name);
    return tool.call((args ?? {}) as Params, context);
  }
}
