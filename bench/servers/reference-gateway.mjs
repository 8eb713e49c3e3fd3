// A gateway as the SDK's documentation shows servers and clients: its Express app, its server transport as it comes,
// which answers with event streams, and its client.
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { SdkSessions } from './sdk-sessions.mjs';

const sessions = await SdkSessions.connect(process.argv[2]);
const app = createMcpExpressApp();

app.all('/mcp', (request, response) => {
  handle(request, response).catch(() => response.destroy());
});

async function handle(request, response) {
  const transport = await sessions.transportFor(request.headers['mcp-session-id']);
  if (transport) await transport.handleRequest(request, response, request.body);
  else response.status(404).end();
}

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`reference gateway listens on http://127.0.0.1:${server.address().port}/mcp`);
});
server.keepAliveTimeout = 60_000;
