import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { onCleanup } from '../cleanup.js';
import { within } from '../until.js';
import { buildServer, createState, sendUpdates } from './offer.mjs';

/** A server of SDK 1.x over HTTP with sessions. */
export class LegacySdkServer {
  private readonly state = createState();
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => void this.handle(request, response));
  }

  static async start(port = 0): Promise<LegacySdkServer> {
    const started = new LegacySdkServer();
    started.server.listen(port, '127.0.0.1');
    await once(started.server, 'listening');
    onCleanup(() => started.stop());
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Sends an update of its resource to the sessions that have subscribed. */
  sendUpdates(): void {
    sendUpdates(this.state);
  }

  /** Breaks all connections, and its sessions are lost. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await within('a server to close', closed);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const session = id === undefined ? await this.open() : this.sessions.get(String(id));
    if (session) await session.handleRequest(request, response);
    else response.writeHead(404).end();
  }

  private async open(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
    });
    await buildServer(this.state).connect(transport);
    return transport;
  }
}
