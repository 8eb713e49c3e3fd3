// The reference gateway without its optional parts: no web framework, responses as JSON.
import { createServer } from 'node:http';
import { SdkSessions } from './sdk-sessions.mjs';

const sessions = await SdkSessions.connect(process.argv[2], { enableJsonResponse: true });

const server = createServer((request, response) => {
  handle(request, response).catch(() => response.destroy());
});

async function handle(request, response) {
  const transport = await sessions.transportFor(request.headers['mcp-session-id']);
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`lean reference gateway listens on http://127.0.0.1:${server.address().port}/mcp`);
});
