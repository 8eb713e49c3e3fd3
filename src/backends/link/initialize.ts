import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { JsonText } from '../../lib/json-text/json-text.js';
import { LATEST_REVISION, revisionOf } from '../../mcp/revisions/revision.js';
import { readHandshakeResult, type OnMemoryLimit } from './handshake-result.js';
import type { LinkRequest, ServerFacts } from './link.js';
import { TransportError } from './transport.js';

/** How the gateway identifies itself to a server. */
export interface InitializeOptions {
  readonly version: string;
  readonly connectTimeoutMs: number;
  /** Client capabilities that the gateway declares on this link. */
  readonly capabilities: ClientCapabilities;
  readonly onMemoryLimit?: OnMemoryLimit | undefined;
}

/** Sends `initialize`. Rejects when the server chooses a revision that the gateway does not support. */
export async function initializeServer(
  request: (request: LinkRequest) => Promise<JsonText>,
  { version, connectTimeoutMs, capabilities, onMemoryLimit }: InitializeOptions,
): Promise<ServerFacts> {
  const clientInfo = { name: 'gatehouse', version };
  const result = await request({
    method: 'initialize',
    timeoutMs: connectTimeoutMs,
    params: JSON.stringify({ protocolVersion: LATEST_REVISION.version, capabilities, clientInfo }),
  });
  const facts = readHandshakeResult(result, 'initialize', onMemoryLimit) as Partial<ServerFacts>;
  if (!revisionOf(facts.protocolVersion))
    throw new TransportError(
      'refused',
      `the gateway does not support MCP revision ${facts.protocolVersion} of the server`,
    );
  return { ...facts, capabilities: facts.capabilities ?? {} } as ServerFacts;
}
