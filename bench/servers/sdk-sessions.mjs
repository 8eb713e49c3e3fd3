import { randomUUID } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const INFO = { name: 'reference-gateway', version: '1.0.0' };

/** One SDK client to the backend, and one SDK server and transport per client session. */
export class SdkSessions {
  #upstream = new Client(INFO);
  #transports = new Map();
  #options;

  /** `options` are those of the SDK's server transport. */
  static async connect(backendUrl, options = {}) {
    const sessions = new SdkSessions(options);
    await sessions.#upstream.connect(new StreamableHTTPClientTransport(new URL(backendUrl)));
    return sessions;
  }

  constructor(options) {
    this.#options = options;
  }

  /** The transport of a session; a new one for a request without a session id. */
  async transportFor(sessionId) {
    return sessionId === undefined ? this.#open() : this.#transports.get(sessionId);
  }

  async #open() {
    const transport = new StreamableHTTPServerTransport({
      ...this.#options,
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => this.#transports.set(id, transport),
      onsessionclosed: (id) => this.#transports.delete(id),
    });
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => this.#upstream.listTools(params));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => this.#upstream.callTool(params));
    await server.connect(transport);
    return transport;
  }
}
