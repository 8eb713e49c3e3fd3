import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { GatewayError } from '../core/errors.js';
import { elementsOf } from '../lib/json-text/json-text.js';
import { readMessage, type Inbound } from '../mcp/json-rpc.js';
import { revisionOf, SUPPORTED_VERSIONS } from '../mcp/revisions/revision.js';
import { Authenticator } from './auth/authenticator.js';
import { parseEventId } from '../mcp/event-frame.js';
import { requireAccept, requireJson } from './content-negotiation.js';
import { writeError } from './http-errors.js';
import { MessageReceiver } from './message-receiver.js';
import { readBody } from './request-body.js';
import { PROJECT_HEADERS, projectsOf, type Sender } from './sender.js';
import type { Session } from './session.js';
import { sessionNotFound, Sessions } from './sessions.service.js';

const ALLOW = 'GET, POST, DELETE, OPTIONS';
const MAX_BATCH_LENGTH = 20;

type Route = (request: IncomingMessage, response: ServerResponse, sender: Sender) => Promise<void> | void;

/** MCP's Streamable HTTP: one path, three verbs. Checks the exchange; the messages in it are the receiver's business. */
@Injectable()
export class McpEndpoint {
  /** No new requests are taken; those in flight go on, and what they wait for is let in. */
  draining = false;

  private readonly routes: Readonly<Record<string, Route>> = {
    POST: (request, response, sender) => this.post(request, response, sender),
    GET: (request, response, sender) => this.listen(request, response, sender),
    DELETE: (request, response, sender) => this.end(request, response, sender),
  };

  constructor(
    private readonly sessions: Sessions,
    private readonly receiver: MessageReceiver,
    private readonly authenticator: Authenticator,
    private readonly limits: Limits,
  ) {}

  /** `project` is what the path names, if it names one. */
  handle(request: IncomingMessage, response: ServerResponse, project?: string): void {
    this.route(request, response, project).catch((error: unknown) => writeError(request, response, error));
  }

  private async route(request: IncomingMessage, response: ServerResponse, project?: string): Promise<void> {
    const route = this.routes[request.method ?? ''];
    if (route) {
      const projects = projectsOf(request, project);
      const { headers } = request;
      const known = this.authenticator.authenticate(headers);
      const principal = known instanceof Promise ? await known : known;
      return route(request, response, { principal, projects, headers });
    }
    // A browser sends no credentials with it.
    if (request.method === 'OPTIONS') return preflight(response);
    response.setHeader('allow', ALLOW);
    throw new GatewayError('method-not-allowed', `Use one of ${ALLOW}`);
  }

  private async post(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    requireAccept(request, 'application/json', 'text/event-stream');
    requireJson(request);
    const body = await readBody(request, this.limits.requestBytes);
    const parsed = parseJson(body);
    if (Array.isArray(parsed)) {
      const session = this.sessionOf(request, sender);
      const messages = readBatch(parsed, body, session);
      if (messages.some(({ kind }) => kind === 'request')) this.requireOpen(response);
      this.receiver.acceptBatch(messages, session, response, sender);
      return;
    }
    const message = readMessage(parsed, body);
    try {
      await this.take(message, request, response, sender);
    } catch (error) {
      writeError(request, response, error, isAnswerable(message) ? message.id : undefined);
    }
  }

  /** A promise only for what makes a session. */
  private take(
    message: Inbound,
    request: IncomingMessage,
    response: ServerResponse,
    sender: Sender,
  ): Promise<void> | undefined {
    if (message.kind === 'invalid')
      throw new GatewayError('invalid-request', `Invalid request: ${message.problem}`);
    if (message.kind === 'request') this.requireOpen(response);
    if (isInitialize(message)) {
      if (request.headers['mcp-session-id'] !== undefined) {
        this.sessionOf(request, sender);
        throw new GatewayError('invalid-request', 'Invalid request: the session is initialised already');
      }
      return this.receiver.initialize(message, response, sender);
    }
    this.receiver.accept(message, this.sessionOf(request, sender), response, sender);
    return undefined;
  }

  private requireOpen(response: ServerResponse): void {
    if (!this.draining) return;
    response.setHeader('connection', 'close');
    throw new GatewayError('draining', 'The gateway is shutting down: connect again');
  }

  private listen(request: IncomingMessage, response: ServerResponse, sender: Sender): void {
    this.requireOpen(response);
    requireAccept(request, 'text/event-stream');
    const session = this.ownSessionOf(request, sender);
    const lastEventId = request.headers['last-event-id'];
    if (lastEventId === undefined) {
      session.listen(response);
      return;
    }
    const resume = parseEventId(String(lastEventId));
    if (!resume) throw new GatewayError('bad-request', 'Last-Event-ID is none of ours');
    session.listen(response, resume);
  }

  private end(request: IncomingMessage, response: ServerResponse, sender: Sender): void {
    this.ownSessionOf(request, sender).close();
    response.writeHead(200, { 'content-length': 0 });
    response.end();
  }

  /** For what concerns the session as a whole, which is found only where it was opened. */
  private ownSessionOf(request: IncomingMessage, sender: Sender): Session {
    const session = this.sessionOf(request, sender);
    if (sender.projects.some((project) => project !== session.project)) throw sessionNotFound();
    return session;
  }

  private sessionOf(request: IncomingMessage, { principal }: Sender): Session {
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !revisionOf(version))
      throw new GatewayError(
        'bad-request',
        `Unsupported MCP-Protocol-Version (supported: ${SUPPORTED_VERSIONS.join(', ')})`,
      );
    return this.sessions.get(request.headers['mcp-session-id'] as string | undefined, principal);
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new GatewayError('parse-error', 'Parse error: the body is not JSON', undefined, { cause });
  }
}

/** Whether somebody waits for an answer to it. */
const isAnswerable = (message: Inbound): message is Extract<Inbound, { kind: 'request' | 'invalid' }> =>
  message.kind === 'request' || message.kind === 'invalid';

function readBatch(parsed: readonly unknown[], body: string, session: Session): Inbound[] {
  if (!session.revision.batches)
    throw new GatewayError(
      'invalid-request',
      `Invalid request: MCP ${session.revision.version} has no batches`,
    );
  if (parsed.length === 0 || parsed.length > MAX_BATCH_LENGTH)
    throw new GatewayError(
      'invalid-request',
      `Invalid request: a batch has 1 to ${MAX_BATCH_LENGTH} messages`,
    );
  return Array.from(elementsOf(body)).map(({ start, end }, index) => {
    const message = readMessage(parsed[index], body.slice(start, end));
    return isInitialize(message)
      ? { kind: 'invalid', id: message.id, problem: 'initialize stands alone' }
      : message;
  });
}

const isInitialize = (message: Inbound): message is Extract<Inbound, { kind: 'request' }> =>
  message.kind === 'request' && message.method === 'initialize';

/** A browser asks before it sends what another origin's page wants sent; the gate has let only allowed ones through. */
function preflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-methods': ALLOW,
    'access-control-allow-headers':
      'content-type, accept, authorization, mcp-session-id, mcp-protocol-version, last-event-id, ' +
      PROJECT_HEADERS.join(', '),
    'access-control-max-age': '600',
  });
  response.end();
}
