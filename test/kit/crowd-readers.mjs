// Many clients in one process: each has a session, is subscribed to one resource and reads its stream. Bare sockets for the
// streams: thousands of response objects would take most of the time.
import { connect } from 'node:net';
import { Agent, request } from 'undici';

/** As many are being opened at once. */
const ABREAST = 64;
const REVISION = '2025-11-25';
const UPDATED = '"notifications/resources/updated"';

const agent = new Agent({ connections: ABREAST, pipelining: 1 });
const clients = [];

async function send(method, url, session, message) {
  const { headers, body, statusCode } = await request(url, {
    dispatcher: agent,
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session, 'mcp-protocol-version': REVISION }),
    },
    ...(message && { body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
  });
  const text = await body.text();
  if (statusCode >= 300 || text.includes('"error"')) throw new Error(`${statusCode} ${text}`);
  return headers['mcp-session-id'];
}

async function open(url, uri) {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'crowd', version: '1' } };
  const session = await send('POST', url, undefined, { id: 1, method: 'initialize', params });
  await send('POST', url, session, { method: 'notifications/initialized' });
  await send('POST', url, session, { id: 2, method: 'resources/subscribe', params: { uri } });
  clients.push(await listen(new URL(url), session));
}

function listen({ href, hostname, port, pathname }, session) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, hostname);
    const client = { socket, url: href, session, rest: '', updates: 0, notes: '' };
    socket.once('error', reject);
    socket.setEncoding('latin1');
    socket.once('data', () => {
      resolve(client);
      socket.on('data', (text) => read(client, text));
    });
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\n` +
        `mcp-session-id: ${session}\r\nmcp-protocol-version: ${REVISION}\r\n\r\n`,
    );
  });
}

function read(client, text) {
  const lines = (client.rest + text).split('\n');
  client.rest = lines.pop();
  for (const line of lines) {
    if (!line.includes(UPDATED)) continue;
    client.updates++;
    client.notes += `${/"note":"(\w+)"/.exec(line)?.[1] ?? '-'} `;
  }
}

function tell() {
  const counts = {};
  for (const { updates } of clients) counts[updates] = (counts[updates] ?? 0) + 1;
  const [first] = clients;
  const isSame = clients.every(({ notes }) => notes === first.notes);
  return { open: clients.length, counts, notes: isSame ? first?.notes.trim().split(' ') : undefined };
}

async function abreast(count, act) {
  let left = count;
  const one = async () => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: ABREAST }, one));
}

const jobs = {
  async open({ url, uri, count }) {
    await abreast(count, () => open(url, uri));
    return tell();
  },
  tell,
  async leave({ but }) {
    await abreast(clients.length - but, async () => {
      const { socket, url, session } = clients.pop();
      await send('DELETE', url, session);
      socket.destroy();
    });
    return tell();
  },
};

async function carryOut({ job, ...options }) {
  try {
    process.send(await jobs[job](options));
  } catch (error) {
    process.send({ error: String(error) });
  }
}

process.on('message', (job) => void carryOut(job));
process.on('disconnect', () => process.exit(0));
