import { SERVER_INFO_META } from '../../mcp/envelope.js';
import type { Params } from '../../mcp/json-rpc.js';
import type { McpContext } from '../../mcp/mcp-context.js';
import { McpController, McpRequest } from '../../mcp/mcp.decorators.js';
import { MODERN_VERSIONS } from '../../mcp/revisions/modern.js';
import { GATEWAY_INFO } from '../gateway-info.js';
import { ServerInstructions } from '../server-instructions.js';

/**
 * Answers `server/discover`, with which a client of revision 2026-07-28 asks for versions, capabilities and
 * instructions.
 */
@McpController()
export class DiscoverController {
  constructor(private readonly instructions: ServerInstructions) {}

  @McpRequest('server/discover')
  discover(_params: Params | undefined, { scope }: McpContext): object {
    const instructions = this.instructions.forScope(scope);
    return {
      supportedVersions: MODERN_VERSIONS,
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      ...(instructions !== undefined && { instructions }),
      _meta: { [SERVER_INFO_META]: GATEWAY_INFO },
    };
  }
}
