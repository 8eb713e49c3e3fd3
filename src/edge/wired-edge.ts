import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Backends } from '../backends/backends.service.js';
import { NO_AUTH } from '../config/auth-settings.js';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { GatewayError } from '../core/errors.js';
import { JsonRpcError } from '../mcp/json-rpc-error.js';
import type { Params } from '../mcp/json-rpc.js';
import { Tracing } from '../mcp/tracing.js';
import type { McpDispatcher } from '../mcp/mcp.dispatcher.js';
import { Metrics } from '../metrics/metrics.js';
import { Registry } from '../registry/registry.service.js';
import { AllowedOrigins } from './allowed-origins.js';
import { Authenticator } from './auth/authenticator.js';
import { HttpGate } from './http-gate.js';
import { LogMessages } from './log-messages.js';
import { McpEndpoint } from './mcp-endpoint.js';
import { MessageIntake } from './message-intake.js';
import type { RequestContext } from './request-context.js';
import { RequestLog } from './request-log.js';
import { SessionController } from './session.controller.js';
import { Sessions } from './sessions.service.js';

type Handler = (params: Params | undefined, context: RequestContext) => unknown;

/** For the specs of this room: the edge as it is, on a real port, in front of handlers that the spec gives it. */
export class WiredEdge {
  readonly limits: Limits;
  readonly sessions: Sessions;
  readonly intake: MessageIntake;
  readonly endpoint: McpEndpoint;
  readonly metrics = new Metrics();
  readonly registry = new Registry(new Naming());
  /** Whatever is not here is no method. */
  readonly handlers: Map<string, Handler>;
  private readonly server;

  constructor(limits: Partial<Limits> = {}) {
    this.limits = Object.assign(new Limits(), limits);
    this.sessions = new Sessions(this.limits, this.metrics);
    const backends = { all: () => [], tellServersOf: () => {} } as unknown as Backends;
    const controller = new SessionController(
      this.registry,
      backends,
      new LogMessages(this.sessions, backends),
    );
    this.handlers = new Map<string, Handler>(
      Object.entries<Handler>({
        initialize: (params, context) => controller.initialize(params, context),
        ping: () => controller.ping(),
        'notifications/initialized': (_params, context) => controller.initialized(context),
        'notifications/cancelled': (params, context) => controller.cancelled(params, context),
        'notifications/progress': (params, context) => controller.progress(params, context),
      }),
    );
    this.intake = new MessageIntake(
      this.dispatcher(),
      this.sessions,
      new RequestLog(),
      this.metrics,
      Tracing.OFF,
    );
    this.endpoint = new McpEndpoint(this.sessions, this.intake, new Authenticator(NO_AUTH), this.limits);
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
