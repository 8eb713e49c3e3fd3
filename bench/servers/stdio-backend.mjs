// An MCP server over stdio with the least possible work per request.
import { createInterface } from 'node:readline';
import { TOOLS } from '../harness/tools.mjs';

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'stdio-backend', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS.slice(0, 1) }),
  'tools/call': ({ arguments: { message } }) => ({ content: [{ type: 'text', text: message }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = methods[method]?.(params);
  const outcome = result ? { result } : { error: { code: -32601, message: `Method not found: ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
