import type { ServerCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { RemoteError } from '../../core/errors.js';
import { MODERN_VERSION } from '../../mcp/envelope.js';
import { notificationMessage } from '../../mcp/json-rpc.js';
import { discoverServer, eraOfFailure } from './discover.js';
import { EraRecord, type LinkEra } from './era-record.js';
import type { InboundMessages } from './inbound-messages.js';
import { initializeServer } from './initialize.js';
import type { LinkMonitor } from './link-monitor.js';
import type { LinkOptions } from './link-options.js';
import { LEGACY_PROTOCOL, type LinkProtocol, type SendRequest } from './link-protocol.js';
import type { LinkRequest, ServerFacts } from './link.js';
import type { ListChangeFilter } from './listen-stream.js';
import { ListenStreams } from './listen-streams.js';
import { ModernProtocol } from './modern-protocol.js';
import { negotiateEra } from './negotiate-era.js';
import type { NotificationStreamState } from './notification-stream-state.js';
import type { ServerRequests } from './server-requests.js';
import { TransportError, type LinkTransport } from './transport.js';

/** JSON-RPC error codes with which a server of 2025 refuses a request without a session. */
const LEGACY_REFUSALS: ReadonlySet<number> = new Set([-32000, -32001, -32600]);

export const eraChanged = (): TransportError =>
  new TransportError('session-expired', 'the server speaks another protocol era than before');

/** The parts of a link that the handshake configures for the era of the server. */
interface LinkParts {
  readonly transport: LinkTransport;
  readonly inbound: InboundMessages;
  readonly serverRequests: ServerRequests;
  readonly monitor: LinkMonitor;
  readonly streamState: NotificationStreamState;
}

/**
 * Opens a link in the protocol era of its server. In 2025, it sends `initialize` and opens the notification stream; in 2026, it
 * sends `server/discover` and `subscriptions/listen`. Later errors of the server are compared with the era: if they contradict
 * it, the link has to be replaced.
 */
export class Handshake {
  protocol: LinkProtocol = LEGACY_PROTOCOL;
  era: LinkEra = { name: '2025', since: Date.now() };
  facts: ServerFacts | undefined;
  listens: ListenStreams | undefined;
  refusesSubscriptions = false;

  constructor(
    private readonly parts: LinkParts,
    private readonly send: SendRequest,
    private readonly options: LinkOptions,
  ) {}

  /** Finds the era of the server and opens the link in it. Rejects when the server does not complete the handshake. */
  async open(): Promise<void> {
    const {
      opening = 'initialize',
      connectTimeoutMs,
      owner,
      eraRecord: record = new EraRecord(),
    } = this.options;
    const steps = {
      initialize: () => this.initialize(),
      discover: (timeoutMs: number) => this.discover(timeoutMs),
    };
    // Only a link that is not shared has an owner.
    const trustsRecord = owner !== undefined;
    this.era = record.set(await negotiateEra(steps, { opening, connectTimeoutMs, record, trustsRecord }));
  }

  /** Pings a server of 2026. Rejects with a session-expired error if the server no longer speaks this era. */
  async checkModern({ timeoutMs }: LinkRequest): Promise<void> {
    try {
      await discoverServer(this.send, timeoutMs, this.options.onMemoryLimit);
    } catch (error) {
      throw eraOfFailure(error) === '2025' ? eraChanged() : error;
    }
  }

  /**
   * Whether an error response says that the server no longer speaks the era of the link. If a change of the era is only one
   * possible cause of the error, returns false, and the monitor pings the server to find out.
   */
  isContradictedBy(error: Error): boolean {
    if (!(error instanceof RemoteError) || !this.facts) return false;
    if (this.protocol.isContradictedBy(error)) return true;
    if (this.protocol.era === '2026' && LEGACY_REFUSALS.has(error.code)) this.parts.monitor.checkSession();
    return false;
  }

  private async initialize(): Promise<void> {
    const { transport, monitor, streamState } = this.parts;
    this.facts = await initializeServer(this.send, this.options);
    transport.setProtocolVersion?.(this.facts.protocolVersion);
    await transport.sendText(notificationMessage('notifications/initialized', undefined));
    monitor.start(this.options);
    // A transport without a separate stream delivers all notifications from the beginning.
    if (!transport.openNotificationStream) return streamState.markShared();
    streamState.startTimeout();
    transport.openNotificationStream();
  }

  private async discover(timeoutMs: number): Promise<void> {
    const { transport, serverRequests, monitor } = this.parts;
    const { version, capabilities, toPublicParams, onInput, onMemoryLimit } = this.options;
    const isHttp = transport.openNotificationStream !== undefined;
    this.protocol = new ModernProtocol({ version, capabilities, isHttp, toPublicParams, onInput });
    transport.setProtocolVersion?.(MODERN_VERSION);
    try {
      this.facts = await discoverServer(this.send, timeoutMs, onMemoryLimit);
    } catch (error) {
      this.protocol = LEGACY_PROTOCOL;
      transport.setProtocolVersion?.(undefined);
      throw error;
    }
    serverRequests.isAllowed = false;
    monitor.start();
    this.listen(this.facts.capabilities);
  }

  /** Opens the listen stream for list changes, if the server announces any. */
  private listen({ tools, prompts, resources }: ServerCapabilities): void {
    const { inbound, streamState } = this.parts;
    const { limiter } = inbound;
    const listens = new ListenStreams(
      this.send,
      { stateChanged: (state) => this.listenStateChanged(state) },
      (count) => (limiter.awaitedAcknowledgements += count),
    );
    this.listens = listens;
    inbound.subscriptionFilter = (method, params, text) => listens.receive(method, params, text);
    const filter: ListChangeFilter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
    };
    streamState.startTimeout();
    if (Object.keys(filter).length > 0) void listens.start(filter);
    else this.listenStateChanged(resources?.subscribe ? 'open' : 'none');
  }

  private listenStateChanged(state: 'open' | 'lost' | 'none'): void {
    if (state === 'none') this.refusesSubscriptions = true;
    this.parts.monitor.streamChanged(state);
    this.parts.streamState.update(state);
  }
}
