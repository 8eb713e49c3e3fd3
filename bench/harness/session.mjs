import { Connection } from './connection.mjs';

const PROTOCOL_VERSION = '2025-11-25';
const MODERN_VERSION = '2026-07-28';
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'load', version: '1' } },
});
const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** Opens a connection and a session on it. `extra` headers are sent with every request. Returns the connection and the headers of the session. */
export async function openSession(url, extra = {}) {
  const connection = await Connection.open(url);
  const { status, head } = await connection.request('POST', { ...HEADERS, ...extra }, INITIALIZE);
  const session = /mcp-session-id: *(\S+)/i.exec(head)?.[1];
  if (status !== 200 || !session) throw new Error(`initialize was answered with HTTP ${status}`);
  const headers = {
    ...HEADERS,
    ...extra,
    'mcp-session-id': session,
    'mcp-protocol-version': PROTOCOL_VERSION,
  };
  await connection.request('POST', headers, INITIALIZED);
  return { connection, headers };
}

/** Opens a connection for requests of revision 2026-07-28, which has no session. Returns it and the headers of all requests. */
export async function openSessionless(url) {
  const connection = await Connection.open(url);
  return { connection, headers: { ...HEADERS, 'mcp-protocol-version': MODERN_VERSION } };
}

/** The member `_meta` of the params of a request of revision 2026-07-28. */
export const ENVELOPE = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': MODERN_VERSION,
  'io.modelcontextprotocol/clientInfo': { name: 'load', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});
