import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { LATEST, revisionOf } from '../../mcp/revisions/revision.js';
import type { LinkRequest, ServerFacts } from './link.js';
import { TransportError } from './transport.js';

/** What a server is told of the gateway. */
export interface InitializeOptions {
  readonly version: string;
  readonly connectTimeoutMs: number;
  /** What the gateway can do for the server at this link. */
  readonly capabilities: ClientCapabilities;
}

/** Learns who the server is. Rejects when it speaks no revision that we do. */
export async function initializeServer(
  request: (request: LinkRequest) => Promise<JsonText>,
  { version, connectTimeoutMs, capabilities }: InitializeOptions,
): Promise<ServerFacts> {
  const clientInfo = { name: 'gatehouse', version };
  const result = await request({
    method: 'initialize',
    timeoutMs: connectTimeoutMs,
    params: JSON.stringify({ protocolVersion: LATEST.version, capabilities, clientInfo }),
  });
  const facts = result.value as Partial<ServerFacts>;
  if (!revisionOf(facts.protocolVersion))
    throw new TransportError('refused', `the server speaks MCP ${facts.protocolVersion}, which we do not`);
  return { ...facts, capabilities: facts.capabilities ?? {} } as ServerFacts;
}
