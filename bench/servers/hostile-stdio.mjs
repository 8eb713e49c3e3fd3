// An MCP server over stdio that floods its stdout with notifications, text that is no JSON, and long lines, and its stderr with
// short lines.
import { createInterface } from 'node:readline';

const BURST_LINES = 1000;
const PAUSE_MS = 10;
const STDERR_LINES = 'x\n'.repeat(500_000);
const notification =
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"flood"}}\n';
const bursts = [notification, 'not JSON\n', `${'x'.repeat(1000)}\n`, '{"jsonrpc":"2.0","method":5}\n'];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'hostile-stdio', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [{ name: 'hang', inputSchema: { type: 'object' } }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === 'tools/call') return;
  const outcome = { result: methods[method]?.(params) ?? {} };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});

let sent = 0;
setInterval(() => {
  if (!process.stdout.writableNeedDrain)
    process.stdout.write(bursts[sent++ % bursts.length].repeat(BURST_LINES));
  if (!process.stderr.writableNeedDrain) process.stderr.write(STDERR_LINES);
}, PAUSE_MS);
