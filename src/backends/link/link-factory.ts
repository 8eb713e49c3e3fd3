import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { EgressProxies } from '../../config/egress-proxies.js';
import { Limits } from '../../config/limits.js';
import type { ServerConfig } from '../../config/servers-config.js';
import type { Era } from '../../core/errors.js';
import { VERSION } from '../../version.js';
import type { LinkOwner } from '../../mcp/mcp-context.js';
import type { AddressPolicy } from '../address-policy.js';
import { ConnectError, type Link } from './link.js';
import { StreamableHttpTransport, type StreamableHttpOptions } from '../http/streamable-http-transport.js';
import { egressOf } from '../http/egress.js';
import { TlsFiles } from '../http/tls-files.js';
import { EndedCalls } from './ended-calls.js';
import { EraRecord } from './era-record.js';
import { watchEra } from './era-watch.js';
import { JsonRpcLink } from './json-rpc-link.js';
import type { LinkOptions } from './link-options.js';
import type { Opening } from './negotiate-era.js';
import { SseTransport } from '../sse/sse-transport.js';
import { StdioTransport } from '../stdio/stdio-transport.js';
import { TransportError, type LinkTransport } from './transport.js';

/**
 * Connections in addition to the `concurrency` of a server. They are for messages that `concurrency` does not limit: pings,
 * notifications, cancellations, responses.
 */
const SPARE_CONNECTIONS = 32;

/** When a notification stream was silent for this time, it is checked. Most servers send keep-alive comments more often. */
const STREAM_IDLE_MS = 90_000;

/** Interval of pings over HTTP+SSE. The response to a ping comes on the event stream, which shows that the stream works. */
const SSE_KEEPALIVE_INTERVAL_MS = 30_000;

/**
 * Client capabilities on a shared link. They do not include roots, because roots belong to one client. They include MCP Apps:
 * a server may offer tools with a user interface only to clients that declare this extension.
 */
const SHARED_CAPABILITIES: ClientCapabilities = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/**
 * Client capabilities on the link of a principal without sessions. Each request of such a principal declares the capabilities
 * of its client. If the server asks for something that the client of the call does not support, the gateway refuses it.
 */
export const SESSIONLESS_CAPABILITIES: ClientCapabilities = { ...SHARED_CAPABILITIES, roots: {} };

/** Client capabilities that may be declared on the link of one owner, but not on a shared link. */
export const UNSHARED_CAPABILITIES: readonly string[] = ['roots', 'sampling.context', 'sampling.tools'];
const NO_PROXIES = new EgressProxies({});

/** With these HTTP statuses, a server that knows only HTTP+SSE responds to a POST. */
const SSE_SERVER_STATUSES: ReadonlySet<unknown> = new Set([400, 404, 405]);

/** Opens a link to a server: a link of `owner`, or, without an owner, the link that all clients share. */
export type LinkFactory = (signal: AbortSignal, owner?: LinkOwner) => Promise<Link>;

export interface LinkFactoryOptions extends Pick<
  LinkOptions,
  | 'toPublicParams'
  | 'onRefusedJson'
  | 'onMalformed'
  | 'onExcess'
  | 'onMemoryLimit'
  | 'onUnattributed'
  | 'onInput'
> {
  /** Maximum requests in flight at the server. It may change while a link is open. */
  readonly concurrency?: () => number;
  /** The policy for the addresses of the server, read at every connection; undefined if every address is allowed. */
  readonly addresses?: () => AddressPolicy | undefined;
  readonly proxies?: EgressProxies | undefined;
}

/** The function that opens links to this server, over the transport and in the protocol era of its configuration. */
export function createLinkFactory(
  server: string,
  config: ServerConfig,
  limits: Limits,
  {
    concurrency = () => config.concurrency,
    addresses,
    proxies = NO_PROXIES,
    ...hooks
  }: LinkFactoryOptions = {},
): LinkFactory {
  const eraRecord = new EraRecord();
  const endedCalls = new EndedCalls();
  const open = (
    transport: LinkTransport,
    opening: Opening,
    signal: AbortSignal,
    owner?: LinkOwner,
  ): Promise<JsonRpcLink> =>
    JsonRpcLink.connect(
      transport,
      {
        server,
        version: VERSION,
        ...hooks,
        owner,
        opening,
        eraRecord,
        endedCalls: owner ? undefined : endedCalls,
        capabilities: owner ? withoutTasks(owner.capabilities) : SHARED_CAPABILITIES,
        connectTimeoutMs: config.connectTimeoutMs,
        keepaliveIntervalMs: transport instanceof SseTransport ? SSE_KEEPALIVE_INTERVAL_MS : undefined,
        idlePingIntervalMs: config.type === 'stdio' ? undefined : config.keepAliveMs,
      },
      signal,
    );
  if (config.type === 'stdio')
    return (signal, owner) =>
      open(
        new StdioTransport(config, { maxLineBytes: limits.responseBytes }),
        openingOf(config.era, 'initialize-first'),
        signal,
        owner,
      );
  const tls = Object.values(config.tls).some((path) => path !== undefined)
    ? new TlsFiles(config.tls)
    : undefined;
  const options = (): StreamableHttpOptions => ({
    maxMessageBytes: limits.responseBytes,
    connections: () => concurrency() + SPARE_CONNECTIONS,
    streamIdleMs: STREAM_IDLE_MS,
    egress: egressOf(config, { proxies, policy: addresses?.(), tls }),
  });
  const overSse: LinkFactory = (signal, owner) =>
    open(new SseTransport(config, options()), 'initialize', signal, owner);
  if (config.type === 'sse') return overSse;
  const openHttp = (opening: Opening, signal: AbortSignal, owner?: LinkOwner): Promise<JsonRpcLink> =>
    open(new StreamableHttpTransport(config, options()), opening, signal, owner);
  const usualOpening = openingOf(config.era, 'probe');
  if (usualOpening === 'discover') return (signal, owner) => openHttp(usualOpening, signal, owner);
  return withSseFallback(async (signal, owner) => {
    const link = await openHttp(usualOpening, signal, owner);
    if (usualOpening === 'probe')
      watchEra(link, (closeSignal) => probeEra(openHttp('discover', closeSignal)), { atIntervals: !owner });
    return link;
  }, overSse);
}

/** The opening for the setting `era`. `auto` is the opening for `era: auto`. */
function openingOf(era: ServerConfig['era'], auto: Opening): Opening {
  if (era === 'auto') return auto;
  return era === '2026' ? 'discover' : 'initialize';
}

/** Closes a link of the 2026 era once it is open. Resolves with its era, or with undefined when it could not be opened. */
const probeEra = (connecting: Promise<Link>): Promise<Era | undefined> =>
  connecting.then(
    async (link) => {
      await link.close();
      return link.era.name;
    },
    () => undefined,
  );

/** The gateway forwards no task requests, even if the client supports tasks. */
const withoutTasks = ({ tasks: _, ...capabilities }: ClientCapabilities): ClientCapabilities => capabilities;

/**
 * Opens links over Streamable HTTP, or over HTTP+SSE to a server that knows only this deprecated transport: it responds to
 * `initialize` with HTTP 400, 404 or 405 (MCP 2025-11-25, Backwards Compatibility). After a success over HTTP+SSE, the next
 * links use it too, until an attempt over it fails.
 */
function withSseFallback(overHttp: LinkFactory, overSse: LinkFactory): LinkFactory {
  let isSseServer = false;
  const connectOverSse: LinkFactory = async (signal, owner) => {
    const link = await overSse(signal, owner).catch((error: unknown) => {
      isSseServer = false;
      throw error;
    });
    isSseServer = true;
    return link;
  };
  return async (signal, owner) => {
    if (isSseServer) return connectOverSse(signal, owner);
    try {
      return await overHttp(signal, owner);
    } catch (error) {
      if (signal.aborted || !isSseServerResponse(error)) throw error;
      // If both transports fail, the first error says more.
      return connectOverSse(signal, owner).catch(() => {
        throw error;
      });
    }
  };
}

function isSseServerResponse(error: unknown): boolean {
  const cause = error instanceof ConnectError ? error.cause : undefined;
  return cause instanceof TransportError && SSE_SERVER_STATUSES.has(cause.details.httpStatus);
}
