// Many clients in one process. Each has a session, is subscribed to one resource and reads its stream, or reads a listen
// stream of the resource. They use bare sockets, because creating thousands of request and response objects would take most of the time.
import { connect } from 'node:net';

/** Clients opened at the same time. */
const CONCURRENCY = 64;
const REVISION = '2025-11-25';
const MODERN_REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';
const ENVELOPE = {
  [`${PREFIX}/protocolVersion`]: MODERN_REVISION,
  [`${PREFIX}/clientInfo`]: { name: 'many', version: '1' },
  [`${PREFIX}/clientCapabilities`]: {},
};
const UPDATED = '"notifications/resources/updated"';

const clients = [];

/** A connection with one request at a time. */
class Connection {
  text = '';

  constructor({ hostname, port, host, pathname }) {
    this.target = `${pathname} HTTP/1.1\r\nhost: ${host}\r\n`;
    this.socket = connect(port, hostname).setNoDelay().setEncoding('latin1');
    this.socket
      .on('data', (text) => this.read(text))
      .on('error', (error) => this.answered?.reject(error))
      .on('close', () => this.answered?.reject(new Error('the gateway closed a connection')));
  }

  /** Sends a request and returns the session id of the response. */
  async send(method, session, message) {
    const body = message ? JSON.stringify({ jsonrpc: '2.0', ...message }) : '';
    this.socket.write(
      `${method} ${this.target}content-type: application/json\r\naccept: application/json, text/event-stream\r\n` +
        `${ofSession(session)}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const answer = await new Promise((resolve, reject) => (this.answered = { resolve, reject }));
    if (!answer.startsWith('HTTP/1.1 2') || answer.includes('"error"')) throw new Error(answer);
    return /^mcp-session-id: (\S+)/im.exec(answer)?.[1];
  }

  read(text) {
    this.text += text;
    const head = this.text.indexOf('\r\n\r\n') + 4;
    if (head < 4) return;
    const length = Number(/^content-length: (\d+)/im.exec(this.text.slice(0, head))?.[1] ?? 0);
    if (this.text.length < head + length) return;
    const answer = this.text;
    this.text = '';
    this.answered.resolve(answer);
  }
}

const ofSession = (session) =>
  session ? `mcp-session-id: ${session}\r\nmcp-protocol-version: ${REVISION}\r\n` : '';

async function open(connection, url, uri) {
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'many', version: '1' } };
  const session = await connection.send('POST', undefined, { id: 1, method: 'initialize', params });
  await connection.send('POST', session, { method: 'notifications/initialized' });
  await connection.send('POST', session, { id: 2, method: 'resources/subscribe', params: { uri } });
  clients.push(await listen(url, session));
}

const listen = (url, session) =>
  readStream(url, session, 'GET', `accept: text/event-stream\r\n${ofSession(session)}\r\n`, 'HTTP/1.1 200');

async function openListen(url, uri) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: `listen:${clients.length}`,
    method: 'subscriptions/listen',
    params: { _meta: ENVELOPE, notifications: { resourceSubscriptions: [uri] } },
  });
  const head =
    'content-type: application/json\r\naccept: application/json, text/event-stream\r\n' +
    `mcp-protocol-version: ${MODERN_REVISION}\r\nmcp-method: subscriptions/listen\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  clients.push(await readStream(url, undefined, 'POST', head + body, 'subscriptions/acknowledged'));
}

/** Resolves when the stream has sent the text `opened`. */
function readStream({ hostname, port, host, pathname }, session, method, rest, opened) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, hostname);
    const client = { socket, session, rest: '', updates: 0, notes: '' };
    let received = '';
    socket.once('error', reject);
    socket.setEncoding('latin1');
    socket.on('data', function first(text) {
      received += text;
      if (!received.includes(opened)) return;
      socket.off('data', first);
      socket.on('data', (later) => read(client, later));
      resolve(client);
    });
    socket.write(`${method} ${pathname} HTTP/1.1\r\nhost: ${host}\r\n${rest}`);
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

function report() {
  const counts = {};
  for (const { updates } of clients) counts[updates] = (counts[updates] ?? 0) + 1;
  const [first] = clients;
  const isSame = clients.every(({ notes }) => notes === first.notes);
  return { open: clients.length, counts, notes: isSame ? first?.notes.trim().split(' ') : undefined };
}

async function forEachConcurrently(count, url, act) {
  let left = count;
  const one = async () => {
    const connection = new Connection(url);
    while (left-- > 0) await act(connection);
    connection.socket.destroy();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, one));
}

const jobs = {
  async open({ url, uri, count }) {
    const at = new URL(url);
    await forEachConcurrently(count, at, (connection) => open(connection, at, uri));
    return report();
  },
  async openListens({ url, uri, count }) {
    let left = count;
    const one = async () => {
      while (left-- > 0) await openListen(new URL(url), uri);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, one));
    return report();
  },
  close({ except }) {
    for (const { socket } of clients.splice(except)) socket.destroy();
    return report();
  },
  report,
  async leave({ url, except }) {
    await forEachConcurrently(clients.length - except, new URL(url), async (connection) => {
      const { socket, session } = clients.pop();
      await connection.send('DELETE', session);
      socket.destroy();
    });
    return report();
  },
};

async function run({ job, ...options }) {
  try {
    process.send(await jobs[job](options));
  } catch (error) {
    process.send({ error: String(error) });
  }
}

process.on('message', (job) => void run(job));
process.on('disconnect', () => process.exit(0));
