import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { Limits } from '../../config/limits.js';
import type { ServerConfig } from '../../config/servers-config.js';
import { VERSION } from '../../version.js';
import type { ClientSession } from '../../mcp/mcp-context.js';
import type { Link } from './link.js';
import { StreamableHttpTransport } from '../http/streamable-http-transport.js';
import { JsonRpcLink, type LinkOptions } from './json-rpc-link.js';
import { SseTransport } from '../sse/sse-transport.js';
import { StdioTransport } from '../stdio/stdio-transport.js';
import type { LinkTransport } from './transport.js';

/** Long enough for package runners such as npx, which download packages at the first start. */
const CONNECT_TIMEOUT_MS = 60_000;

/** Connections for messages that do not pass the call gate: notification stream, pings, cancellations, subscriptions. */
const SPARE_CONNECTIONS = 32;

/** Longer than the interval of keep-alive comments of most servers. */
const STREAM_IDLE_MS = 90_000;

/** Only for SSE: that transport does not detect a connection that is dead but not closed. */
const SSE_KEEPALIVE_INTERVAL_MS = 30_000;

/** Client capabilities on a shared link. Without roots, because roots belong to one client. */
const SHARED_CAPABILITIES: ClientCapabilities = { sampling: {}, elicitation: { form: {}, url: {} } };

/** Opens a link to a server: for the session `owner`, or, without an owner, for all sessions. */
export type LinkFactory = (signal: AbortSignal, owner?: ClientSession) => Promise<Link>;

export const createLinkFactory =
  (
    server: string,
    config: ServerConfig,
    limits: Limits,
    { toPublicParams, onRefusedJson }: Pick<LinkOptions, 'toPublicParams' | 'onRefusedJson'> = {},
  ): LinkFactory =>
  (signal, owner) =>
    JsonRpcLink.connect(
      createTransport(config, limits),
      {
        server,
        version: VERSION,
        toPublicParams,
        onRefusedJson,
        owner,
        capabilities: owner?.capabilities ?? SHARED_CAPABILITIES,
        connectTimeoutMs: CONNECT_TIMEOUT_MS,
        keepaliveIntervalMs: config.type === 'sse' ? SSE_KEEPALIVE_INTERVAL_MS : undefined,
      },
      signal,
    );

function createTransport(config: ServerConfig, limits: Limits): LinkTransport {
  if (config.type === 'stdio') return new StdioTransport(config, { maxLineBytes: limits.responseBytes });
  if (config.type === 'sse')
    return new SseTransport(new URL(config.url), { requestInit: { headers: config.headers } });
  return new StreamableHttpTransport(config, {
    maxMessageBytes: limits.responseBytes,
    connections: config.concurrency + SPARE_CONNECTIONS,
    streamIdleMs: STREAM_IDLE_MS,
  });
}
