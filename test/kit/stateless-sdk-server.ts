import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  ListResourcesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { serve } from './serve.js';

/**
 * A server without sessions, written like the examples of the official SDK: it creates an SDK server for every POST, and
 * answers GET with 405. It announces `subscribe`, although it cannot send updates.
 */
export class StatelessSdkServer {
  /** The text of its resource. */
  text = 'first';
  /** The URIs of the subscribe requests. */
  readonly subscribed: string[] = [];
  url = '';

  static async start(uri: string): Promise<StatelessSdkServer> {
    const stateless = new StatelessSdkServer();
    const { url } = await serve((request, response) => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const server = stateless.createServer(uri);
      const transport = new StreamableHTTPServerTransport({});
      response.on('close', () => void server.close());
      void server
        .connect(transport as Parameters<Server['connect']>[0])
        .then(() => transport.handleRequest(request, response));
    });
    stateless.url = `${url}/mcp`;
    return stateless;
  }

  private createServer(uri: string): Server {
    const server = new Server(
      { name: 'stateless', version: '1' },
      { capabilities: { resources: { subscribe: true } } },
    );
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri, name: 'one' }] }));
    server.setRequestHandler(ReadResourceRequestSchema, () => ({ contents: [{ uri, text: this.text }] }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      this.subscribed.push(params.uri);
      return {};
    });
    return server;
  }
}
