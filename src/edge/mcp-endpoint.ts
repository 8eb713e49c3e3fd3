import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { GatewayError } from '../core/errors.js';
import type { JsonDocument } from '../lib/json-text/json-document.js';
import { JsonProblem, type ReadJson } from '../lib/json-text/json-reader.js';
import { inputBudget } from '../lib/slices/iteration-budget.js';
import { runSliced } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { isInitialize, isLongInitialize, profileTooLarge } from '../mcp/client-profile.js';
import { readMessage, requestIdIn, type Inbound } from '../mcp/json-rpc.js';
import { SUPPORTED_VERSIONS } from '../mcp/revisions/revision.js';
import { Metrics } from '../metrics/metrics.js';
import { AuthenticationGuard, type AuthenticatedRequest } from './auth/authentication.guard.js';
import { parseEventId } from '../mcp/event-frame.js';
import { ConnectionGuard } from './connection.guard.js';
import { allowedHeaders } from './cors-headers.js';
import { writeError } from './http-errors.js';
import { withGuards, HttpGuards } from './http-guards.js';
import { bodyError, requireAccept, requireJson, sourceOf, type RequestSource } from './http-request.js';
import { MessageReceiver } from './message-receiver.js';
import { ModernIntake } from './modern/modern-intake.js';
import { OriginGuard } from './origin.guard.js';
import { readBatch } from './read-batch.js';
import { RequestBodies } from './request-bodies.js';
import type { ResumePoint } from './session-streams.js';
import type { Session } from './session.js';
import { sessionNotFound, Sessions } from './sessions.service.js';
import { StreamQuota } from './stream-quota.js';

const ALLOWED_METHODS = 'GET, POST, DELETE, OPTIONS';
/**
 * The delay after which a client reconnects its standalone stream. It is longer than a restart of the gateway takes,
 * because the Python SDK tries to reconnect only once, and the TypeScript SDK twice.
 */
const RETRY_MS = 3000;
/** Maximum of the random time that is added to the delay, so that not all clients reconnect at once after a restart. */
const RETRY_JITTER_MS = 1000;

type Handler = ReturnType<typeof withGuards>;

/**
 * MCP's Streamable HTTP: POST, GET and DELETE on one path. The guards of each method run on the headers, before the
 * body is read. `MessageReceiver` processes the messages of the body.
 */
@Injectable()
@HttpGuards([OriginGuard])
export class McpEndpoint implements OnModuleInit {
  private handlers: Readonly<Record<string, Handler>> = {};
  private fallbackHandler!: Handler;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly sessions: Sessions,
    private readonly receiver: MessageReceiver,
    private readonly bodies: RequestBodies,
    private readonly metrics: Metrics,
    private readonly streamQuota: StreamQuota,
    private readonly modern: ModernIntake,
  ) {}

  onModuleInit(): void {
    const guard = (method: keyof this & string): Handler => withGuards(this, method, this.moduleRef);
    this.handlers = {
      POST: guard('post'),
      GET: guard('get'),
      DELETE: guard('delete'),
      OPTIONS: guard('options'),
    };
    this.fallbackHandler = guard('refuseMethod');
  }

  /** `project` is the project in the path, if any. */
  handle(request: IncomingMessage, response: ServerResponse, project?: string): void {
    const handler = this.handlers[request.method ?? ''] ?? this.fallbackHandler;
    try {
      const handled = handler(request, response, project);
      if (handled instanceof Promise)
        handled.catch((error: unknown) => this.writeError(request, response, error));
    } catch (error) {
      this.writeError(request, response, error);
    }
  }

  @HttpGuards([AuthenticationGuard, ConnectionGuard])
  post(request: AuthenticatedRequest, response: ServerResponse, project?: string): void {
    const source = sourceOf(request, project);
    requireAccept(request, 'application/json', 'text/event-stream');
    requireJson(request);
    const failed = (error: unknown): void => this.writeError(request, response, error);
    this.bodies.read(request, {
      received: (body) => {
        try {
          this.receiveBody(body, request, response, source)?.catch(failed);
        } catch (error) {
          failed(error);
        }
      },
      failed,
    });
  }

  /** Opens the standalone event stream of a session, or resumes a stream. */
  @HttpGuards([AuthenticationGuard, ConnectionGuard])
  get(request: AuthenticatedRequest, response: ServerResponse, project?: string): void {
    this.requireSessionId(request, response);
    const source = sourceOf(request, project);
    requireAccept(request, 'text/event-stream');
    const session = this.sessionInProject(request, source);
    const resume = resumePointOf(request);
    this.streamQuota.claim(session, response);
    session.listen(response, resume, retryDelayFor(request));
  }

  @HttpGuards([AuthenticationGuard, ConnectionGuard])
  async delete(request: AuthenticatedRequest, response: ServerResponse, project?: string): Promise<void> {
    this.requireSessionId(request, response);
    this.sessionInProject(request, sourceOf(request, project)).close();
    await this.sessions.waitUntilPersisted();
    response.writeHead(200, { 'content-length': 0 });
    response.end();
  }

  /** A CORS preflight, which browsers send without credentials. */
  options({ headers }: IncomingMessage, response: ServerResponse): void {
    response.writeHead(204, {
      'access-control-allow-methods': ALLOWED_METHODS,
      'access-control-allow-headers': allowedHeaders(headers['access-control-request-headers']).join(', '),
      'access-control-max-age': '600',
    });
    response.end();
  }

  refuseMethod(_request: IncomingMessage, response: ServerResponse): void {
    response.setHeader('allow', ALLOWED_METHODS);
    throw new GatewayError('method-not-allowed', `Use one of ${ALLOWED_METHODS}`);
  }

  /** Returns a promise only if the body is long or a batch, or for `initialize`. Most calls need no promise here. */
  private receiveBody(
    body: ReadJson,
    request: AuthenticatedRequest,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> | undefined {
    if (body instanceof JsonProblem) {
      this.metrics.countRefusedJson('client', body.reason);
      this.writeError(request, response, bodyError(body), requestIdIn(body));
      return undefined;
    }
    if (body.kind === 'array') return this.receiveBatch(body, request, response, source);
    if (isLongInitialize(body)) {
      this.metrics.countMemoryLimit('client-profile');
      this.writeError(request, response, profileTooLarge(), requestIdIn({ document: body }));
      return undefined;
    }
    const message = readMessage(body);
    // Only a long message has `paramsJson`. `readMessage` took time for it, so the message is processed in a later iteration
    // of the event loop.
    return 'paramsJson' in message
      ? inputBudget.runWhenDue<void>(() => this.receiveMessage(message, request, response, source))
      : this.receiveMessage(message, request, response, source);
  }

  private async receiveBatch(
    body: JsonDocument,
    request: AuthenticatedRequest,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> {
    this.modern.requireLegacyBatch(body, request.headers);
    const session = this.sessionOf(request);
    // A batch may be long. It is read when an iteration of the event loop has time left for input.
    await inputBudget.runWhenDue(() => undefined);
    const messages = await runSliced(readBatch(body, session), sliceScheduler.start());
    await this.receiver.receiveBatch(messages, session, response, source);
  }

  /** Processes one message of either era. Responds with an error if the message is refused. */
  private receiveMessage(
    message: Inbound,
    request: AuthenticatedRequest,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> | undefined {
    const refuse = (error: unknown): void =>
      this.writeError(request, response, error, needsResponse(message) ? message.id : undefined);
    try {
      return this.modern.receive(message, response, source)
        ? undefined
        : this.receive(message, request, response, source)?.catch(refuse);
    } catch (error) {
      refuse(error);
      return undefined;
    }
  }

  private writeError(
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    id?: RequestId,
  ): void {
    writeError(request, response, error, id, this.modern.eraOf(request.headers));
  }

  /** Returns a promise only for `initialize`. */
  private receive(
    message: Inbound,
    request: AuthenticatedRequest,
    response: ServerResponse,
    source: RequestSource,
  ): Promise<void> | undefined {
    if (message.kind === 'invalid') throw this.receiver.refuseInvalid(message);
    if (isInitialize(message)) {
      if (request.headers['mcp-session-id'] !== undefined) {
        // Throws `session-not-found` if the session has expired, so that the client initializes without a session id.
        this.sessionOf(request);
        throw new GatewayError('invalid-request', 'Invalid request: the session is initialised already');
      }
      return this.receiver.initialize(message, response, source);
    }
    this.receiver.receive(message, this.sessionOf(request), response, source);
    return undefined;
  }

  /** Throws if the request has no session id and may be of revision 2026-07-28, which has neither GET nor DELETE. */
  private requireSessionId({ headers }: IncomingMessage, response: ServerResponse): void {
    if (!this.modern.isOn || headers['mcp-session-id'] !== undefined) return;
    response.setHeader('allow', 'POST, OPTIONS');
    throw new GatewayError('method-not-allowed', 'Without a session, use POST');
  }

  /** The session of a GET or DELETE. Throws if the request names another project than that of the session. */
  private sessionInProject(request: AuthenticatedRequest, { projects }: RequestSource): Session {
    const session = this.sessionOf(request);
    if (projects.some((project) => project !== session.project)) throw sessionNotFound();
    return session;
  }

  private sessionOf({ headers, principal, quotaKey }: AuthenticatedRequest): Session {
    const version = headers['mcp-protocol-version'];
    if (version !== undefined && !SUPPORTED_VERSIONS.includes(String(version)))
      throw new GatewayError(
        'bad-request',
        `Unsupported MCP-Protocol-Version (supported: ${SUPPORTED_VERSIONS.join(', ')})`,
      );
    return this.sessions.get(headers['mcp-session-id'] as string | undefined, principal, quotaKey);
  }
}

function resumePointOf({ headers }: IncomingMessage): ResumePoint | undefined {
  const lastEventId = headers['last-event-id'];
  if (lastEventId === undefined) return undefined;
  const resume = parseEventId(String(lastEventId));
  if (!resume) throw new GatewayError('bad-request', 'Last-Event-ID is not an event id of this gateway');
  return resume;
}

/**
 * Undefined for Java's HTTP client: versions of the Java SDK up to 2.0 fail if they read a `retry:` line, and no
 * version reconnects the standalone stream.
 */
const retryDelayFor = ({ headers }: IncomingMessage): number | undefined =>
  headers['user-agent']?.startsWith('Java-http-client/')
    ? undefined
    : RETRY_MS + Math.floor(Math.random() * RETRY_JITTER_MS);

const needsResponse = (message: Inbound): message is Extract<Inbound, { kind: 'request' | 'invalid' }> =>
  message.kind === 'request' || message.kind === 'invalid';
