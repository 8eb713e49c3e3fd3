// An MCP server over HTTP, or with the argument `stdio` over stdio, that logs the argument of every call after it has answered
// the call, `lines` times. Over HTTP the messages go to the notification stream, as from servers of rmcp and from Go servers in
// JSON mode. With `cuts`, the call ends that stream, and the messages are replayed when it is resumed.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

/** A message has the length of a usual log line. */
const LOGGER = 'logger'.padEnd(200, '.');
/** Longer than the gateway counts an ended call. */
const RETRY_MS = 1500;

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'logging-backend', version: '1.0.0' },
  }),
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'tools/list': () => ({ tools: [{ name: 'log', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [] }),
};

/** The response to a message, the log message after it, and how often that is sent; empty for a notification. */
function answer(text) {
  const { id, method, params = {} } = JSON.parse(text);
  if (id === undefined) return [];
  const response = JSON.stringify({ jsonrpc: '2.0', id, result: methods[method]?.(params) ?? {} });
  if (method !== 'tools/call') return [response];
  const { secret, lines = 1, cuts = false } = params.arguments;
  const log = { level: 'info', logger: LOGGER, data: secret };
  const message = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: log });
  return [response, message, lines, cuts];
}

let stream;
let missed = '';
let lastEventId = 0;
const server = createServer({ noDelay: true }, (request, response) => {
  if (request.method === 'GET') {
    stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: ${++lastEventId}\nretry: ${RETRY_MS}\ndata:\n\n`);
    if (request.headers['last-event-id']) response.write(missed);
    missed = '';
    return;
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const [text, message, lines, cuts] =
      request.method === 'POST' ? answer(Buffer.concat(chunks).toString()) : [];
    if (text)
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'session' }).end(text);
    else response.writeHead(202).end();
    const log = message && `data: ${message}\n\n`.repeat(lines);
    if (cuts) {
      missed += log;
      stream?.end();
    } else if (log) stream?.write(log);
  });
});

function serveStdio() {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [text, message, lines] = answer(line);
    if (text) process.stdout.write(`${text}\n`);
    if (message) process.stdout.write(`${message}\n`.repeat(lines));
  });
}

if (process.argv[2] === 'stdio') serveStdio();
else
  server.listen(0, '127.0.0.1', () => {
    console.log(`logging backend listens on http://127.0.0.1:${server.address().port}/mcp`);
  });
