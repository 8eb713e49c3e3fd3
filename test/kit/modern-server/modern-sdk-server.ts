import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpHttpHandler, type McpServer } from '@modelcontextprotocol/server';
import { onCleanup } from '../cleanup.js';
import { within } from '../until.js';

interface ModernServerOptions {
  /** `stateless` is the default of the SDK: revisions of 2025 are served too, without sessions and notifications. */
  readonly legacy?: 'stateless' | 'reject';
  readonly port?: number;
}

/** A server of the SDK of the 2026 era over HTTP. It creates an `McpServer` for every request. */
export class ModernSdkServer {
  /** The headers of every request. */
  readonly requests: IncomingHttpHeaders[] = [];

  private constructor(
    private readonly server: Server,
    private readonly handler: McpHttpHandler,
  ) {}

  static async start(
    build: () => McpServer,
    { legacy = 'reject', port = 0 }: ModernServerOptions = {},
  ): Promise<ModernSdkServer> {
    const handler = createMcpHandler(build, { legacy });
    const handle = toNodeHandler(handler);
    const server = createServer((request, response) => {
      started.requests.push(request.headers);
      void handle(request as Parameters<typeof handle>[0], response);
    });
    const started = new ModernSdkServer(server, handler);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    onCleanup(() => started.stop());
    return started;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Sends notifications to the clients that listen. */
  get notify(): McpHttpHandler['notify'] {
    return this.handler.notify;
  }

  countOf(method: string): number {
    return this.requests.filter((headers) => headers['mcp-method'] === method).length;
  }

  /** Breaks all connections, also those of listen streams. */
  breakConnections(): void {
    this.server.closeAllConnections();
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await within('a server to close', closed);
    await this.handler.close();
  }
}
