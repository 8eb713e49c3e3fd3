import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Backends } from '../../src/backends/backends.service.js';
import { NO_AUTH } from '../../src/config/auth-settings.js';
import { HttpSettings } from '../../src/config/http-settings.js';
import { GatehouseConfig } from '../../src/config/gatehouse-config.js';
import { LiveConfig } from '../../src/config/live-config.js';
import { Limits } from '../../src/config/limits.js';
import { Naming } from '../../src/config/naming.js';
import { GatewayError } from '../../src/core/errors.js';
import { FanOut } from '../../src/mcp/fan-out.js';
import type { Params } from '../../src/mcp/json-rpc.js';
import { Tracing } from '../../src/mcp/tracing.js';
import type { McpDispatcher } from '../../src/mcp/mcp.dispatcher.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { Registry } from '../../src/registry/registry.service.js';
import { Authenticator } from '../../src/edge/auth/authenticator.js';
import { ClientAddresses } from '../../src/edge/client-addresses.js';
import { ConnectionGuard } from '../../src/edge/connection.guard.js';
import { GatewayServer } from '../../src/edge/gateway-server.js';
import { writeError } from '../../src/edge/http-errors.js';
import { LogMessages } from '../../src/edge/log-messages.js';
import { AuthenticationGuard } from '../../src/edge/auth/authentication.guard.js';
import { McpEndpoint } from '../../src/edge/mcp-endpoint.js';
import { RequestBodies } from '../../src/edge/request-bodies.js';
import { LinkOwners } from '../../src/edge/modern/link-owners.js';
import { ModernIntake } from '../../src/edge/modern/modern-intake.js';
import { ParkedCalls } from '../../src/edge/modern/parked-calls.js';
import { ModernRequests } from '../../src/edge/modern/modern-requests.js';
import { ModernResponses } from '../../src/edge/modern/modern-responses.js';
import { MessageReceiver } from '../../src/edge/message-receiver.js';
import { OriginGuard } from '../../src/edge/origin.guard.js';
import type { RequestContext } from '../../src/edge/request-context.js';
import { RequestLog } from '../../src/edge/request-log.js';
import { RequestRunner } from '../../src/edge/request-runner.js';
import { ServerInstructions } from '../../src/edge/server-instructions.js';
import { SessionController } from '../../src/edge/session.controller.js';
import { Sessions } from '../../src/edge/sessions.service.js';
import { StreamQuota } from '../../src/edge/stream-quota.js';
import { MemoryQuotas } from '../../src/state/memory-quotas.js';
import { Quotas } from '../../src/state/quotas.js';
import { ParkingGateway } from './parked-call-harness.js';

type Handler = (params: Params | undefined, context: RequestContext) => unknown;

/** The edge with its guards on a real port, in front of handlers that the spec provides. */
export class EdgeHarness {
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly runner: RequestRunner;
  readonly receiver: MessageReceiver;
  readonly modernRequests: ModernRequests;
  /** Parked calls of a server with the id `server`. */
  readonly parking = new ParkingGateway();
  endpoint!: McpEndpoint;
  bodies!: RequestBodies;
  readonly metrics = new Metrics();
  readonly quotas = new MemoryQuotas();
  readonly registry = new Registry(new Naming());
  /** The handlers by method: those of `SessionController`, and those that the spec adds. */
  readonly handlers: Map<string, Handler>;
  readonly gateway = new GatewayServer();
  private server: Server | undefined;

  constructor(
    limits: Partial<Limits> = {},
    private readonly http: Partial<HttpSettings> = {},
    private readonly auth = NO_AUTH,
  ) {
    this.limits = Object.assign(new Limits(), limits);
    this.sessions = new Sessions(this.limits, this.metrics, undefined, this.quotas);
    const backends = {
      all: () => [],
      notifySessionLinks: () => {},
      setLogLevel: () => {},
    } as unknown as Backends;
    const config = new LiveConfig(new GatehouseConfig());
    const logMessages = new LogMessages(this.sessions.recipients, new FanOut(), backends);
    const controller = new SessionController(
      new ServerInstructions(this.registry, config, this.metrics),
      backends,
      logMessages,
      this.sessions,
    );
    this.handlers = new Map<string, Handler>(
      Object.entries<Handler>({
        initialize: (params, context) => controller.initialize(params, context),
        ping: () => controller.ping(),
        'notifications/initialized': (params, context) => controller.initialized(params, context),
        'notifications/cancelled': (params, context) => controller.cancelled(params, context),
        'notifications/progress': (params, context) => controller.progress(params, context),
      }),
    );
    const dispatcher = this.dispatcher();
    const log = new RequestLog();
    this.runner = new RequestRunner(dispatcher, log, this.metrics, Tracing.OFF);
    this.receiver = new MessageReceiver(this.runner, dispatcher, this.sessions, log, this.metrics);
    this.modernRequests = new ModernRequests(
      this.limits,
      this.quotas,
      this.metrics,
      this.sessions,
      this.runner,
      logMessages,
    );
  }

  async listen(): Promise<void> {
    const module = await Test.createTestingModule({
      providers: [
        { provide: HttpSettings, useValue: Object.assign(new HttpSettings(), this.http) },
        { provide: Limits, useValue: this.limits },
        { provide: Sessions, useValue: this.sessions },
        { provide: MessageReceiver, useValue: this.receiver },
        { provide: RequestRunner, useValue: this.runner },
        { provide: ModernRequests, useValue: this.modernRequests },
        { provide: ParkedCalls, useValue: this.parking.parked },
        ModernIntake,
        LinkOwners,
        ModernResponses,
        { provide: Authenticator, useValue: new Authenticator(this.auth) },
        OriginGuard,
        { provide: Metrics, useValue: this.metrics },
        { provide: Quotas, useValue: this.quotas },
        AuthenticationGuard,
        ClientAddresses,
        ConnectionGuard,
        StreamQuota,
        McpEndpoint,
        RequestBodies,
      ],
    }).compile();
    // Compiling a testing module turns Nest's logger on.
    Logger.overrideLogger(false);
    this.endpoint = module.get(McpEndpoint);
    this.bodies = module.get(RequestBodies);
    this.endpoint.onModuleInit();
    const { gateway } = this;
    gateway.setRoutes({
      mcp: this.endpoint,
      originGuard: module.get(OriginGuard),
      connections: module.get(ConnectionGuard),
      refuseAdmin: writeError,
    });
    this.server = gateway.create((_request, response) => response.writeHead(404).end('not MCP'));
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server!.address() as AddressInfo).port}/mcp`;
  }

  get isListening(): boolean {
    return this.server!.listening;
  }

  close(): void {
    this.sessions.suspendAll();
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private dispatcher(): McpDispatcher {
    const handle = async (context: RequestContext, params: Params | undefined): Promise<unknown> => {
      const { method, revision } = context;
      // For sessions, specs may add a handler of any method.
      const isKnown = revision.era === '2025' || revision.methods.has(method);
      const handler = isKnown ? this.handlers.get(method) : undefined;
      try {
        if (!handler) throw new GatewayError('method-not-found', `Method not found: ${context.method}`);
        return await handler(params, context);
      } catch (error) {
        throw context.revision.errorOf(error);
      }
    };
    const handles = (method: string): boolean => this.handlers.has(method);
    return { dispatchRequest: handle, dispatchNotification: handle, handles } as unknown as McpDispatcher;
  }
}
