import { Connection } from './connection.mjs';

const PROTOCOL_VERSION = '2025-11-25';
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const HELLO = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'load', version: '1' } },
});
const READY = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** A connection, and the headers of every request of a new session on it. */
export async function openSession(url) {
  const connection = await Connection.open(url);
  const { status, head } = await connection.request('POST', HEADERS, HELLO);
  const session = /mcp-session-id: *(\S+)/i.exec(head)?.[1];
  if (status !== 200 || !session) throw new Error(`initialize was answered with HTTP ${status}`);
  const headers = { ...HEADERS, 'mcp-session-id': session, 'mcp-protocol-version': PROTOCOL_VERSION };
  await connection.request('POST', headers, READY);
  return { connection, headers };
}
