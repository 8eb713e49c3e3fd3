import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Backends } from '../../src/backends/backends.service.js';
import { NO_AUTH } from '../../src/config/auth-settings.js';
import { Limits } from '../../src/config/limits.js';
import { Naming } from '../../src/config/naming.js';
import { GatewayError } from '../../src/core/errors.js';
import { JsonRpcError } from '../../src/mcp/json-rpc-error.js';
import type { Params } from '../../src/mcp/json-rpc.js';
import { Tracing } from '../../src/mcp/tracing.js';
import type { McpDispatcher } from '../../src/mcp/mcp.dispatcher.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { Registry } from '../../src/registry/registry.service.js';
import { AllowedOrigins } from '../../src/edge/allowed-origins.js';
import { Authenticator } from '../../src/edge/auth/authenticator.js';
import { HttpGate } from '../../src/edge/http-gate.js';
import { LogMessages } from '../../src/edge/log-messages.js';
import { McpEndpoint } from '../../src/edge/mcp-endpoint.js';
import { MessageReceiver } from '../../src/edge/message-receiver.js';
import type { RequestContext } from '../../src/edge/request-context.js';
import { RequestLog } from '../../src/edge/request-log.js';
import { SessionController } from '../../src/edge/session.controller.js';
import { Sessions } from '../../src/edge/sessions.service.js';

type Handler = (params: Params | undefined, context: RequestContext) => unknown;

/** For the specs of this room: the edge as it is, on a real port, in front of handlers that the spec gives it. */
export class WiredEdge {
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly receiver: MessageReceiver;
  readonly endpoint: McpEndpoint;
  readonly metrics = new Metrics();
  readonly registry = new Registry(new Naming());
  /** Whatever is not here is no method. */
  readonly handlers: Map<string, Handler>;
  private readonly server;

  constructor(limits: Partial<Limits> = {}) {
    this.limits = Object.assign(new Limits(), limits);
    this.sessions = new Sessions(this.limits, this.metrics);
    const backends = { all: () => [], notifySessionLinks: () => {} } as unknown as Backends;
    const controller = new SessionController(
      this.registry,
      backends,
      new LogMessages(this.sessions, backends),
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
    this.receiver = new MessageReceiver(
      this.dispatcher(),
      this.sessions,
      new RequestLog(),
      this.metrics,
      Tracing.OFF,
    );
    this.endpoint = new McpEndpoint(this.sessions, this.receiver, new Authenticator(NO_AUTH), this.limits);
    const gate = new HttpGate(
      new AllowedOrigins({ host: '127.0.0.1', allowedHosts: [], allowedOrigins: [] }),
    );
    gate.open(this.endpoint);
    this.server = gate.server((_request, response) => response.writeHead(404).end('not MCP'));
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  close(): void {
    this.sessions.close();
    this.server.close();
    this.server.closeAllConnections();
  }

  private dispatcher(): McpDispatcher {
    const handle = async (context: RequestContext, params: Params | undefined): Promise<unknown> => {
      const handler = this.handlers.get(context.method);
      try {
        if (!handler) throw new GatewayError('method-not-found', `Method not found: ${context.method}`);
        return await handler(params, context);
      } catch (error) {
        throw JsonRpcError.from(error);
      }
    };
    const handles = (method: string): boolean => this.handlers.has(method);
    return { request: handle, notification: handle, handles } as unknown as McpDispatcher;
  }
}
