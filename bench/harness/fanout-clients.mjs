// Many clients in one process. Each has a session, one subscription and an open event stream, or a listen stream.
import { connect } from 'node:net';
import { Agent, request } from 'undici';

const MAX_CONCURRENT_OPENS = 32;
const REVISION = '2025-11-25';
const MODERN_REVISION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol';
const ENVELOPE = {
  [`${PREFIX}/protocolVersion`]: MODERN_REVISION,
  [`${PREFIX}/clientInfo`]: { name: 'reader', version: '1' },
  [`${PREFIX}/clientCapabilities`]: {},
};
const UPDATED = 'resources/updated';

/** A clock that all processes share. */
const now = () => performance.timeOrigin + performance.now();

const agent = new Agent({ connections: MAX_CONCURRENT_OPENS, pipelining: 1 });
const readers = [];
let waiting = 0;
let done = () => {};

async function post(url, session, message) {
  const { headers, body } = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session && { 'mcp-session-id': session, 'mcp-protocol-version': REVISION }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  const text = await body.text();
  if (text.includes('"error"')) throw new Error(text);
  return headers['mcp-session-id'];
}

async function open(url, uri) {
  const clientInfo = { name: 'reader', version: '1' };
  const params = { protocolVersion: REVISION, capabilities: {}, clientInfo };
  const session = await post(url, undefined, { id: 1, method: 'initialize', params });
  await post(url, session, { method: 'notifications/initialized' });
  if (uri) await post(url, session, { id: 2, method: 'resources/subscribe', params: { uri } });
  readers.push(await listen(new URL(url), session));
}

const listen = (url, session) =>
  readStream(
    url,
    'GET',
    `accept: text/event-stream\r\nmcp-session-id: ${session}\r\nmcp-protocol-version: ${REVISION}\r\n\r\n`,
    'HTTP/1.1 200',
  );

/** Opens a listen stream of revision 2026-07-28. */
async function openListen(url, uri) {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: `listen:${readers.length}`,
    method: 'subscriptions/listen',
    params: { _meta: ENVELOPE, notifications: { resourceSubscriptions: [uri] } },
  });
  const head =
    'content-type: application/json\r\naccept: application/json, text/event-stream\r\n' +
    `mcp-protocol-version: ${MODERN_REVISION}\r\nmcp-method: subscriptions/listen\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  readers.push(await readStream(new URL(url), 'POST', head + body, 'subscriptions/acknowledged'));
}

/**
 * Resolves when the stream has sent the text `opened`. Uses a bare socket: 10,000 response objects would cost more than the
 * streams under test.
 */
function readStream({ hostname, port, pathname }, method, rest, opened) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, hostname);
    const reader = { socket, updates: 0, lags: undefined };
    let text = '';
    socket.once('error', reject);
    socket.on('data', function first(bytes) {
      text += bytes.toString('latin1');
      if (!text.includes(opened)) return;
      socket.off('data', first);
      socket.on('data', (later) => read(reader, later));
      resolve(reader);
    });
    socket.write(`${method} ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${rest}`);
  });
}

function read(reader, bytes) {
  const text = bytes.toString('latin1');
  for (let at = text.indexOf(UPDATED); at !== -1; at = text.indexOf(UPDATED, at + 1)) {
    reader.updates++;
    if (reader.lags) reader.lags.push(now() - Number(/"stamp":([\d.]+)/.exec(text.slice(at))?.[1]));
    if (--waiting === 0) done();
  }
}

const jobs = {
  async open({ url, uri, count, isListen = false }) {
    const openOne = isListen ? openListen : open;
    for (let left = count; left > 0; left -= MAX_CONCURRENT_OPENS)
      await Promise.all(
        Array.from({ length: Math.min(left, MAX_CONCURRENT_OPENS) }, () => openOne(url, uri)),
      );
    return { open: readers.length };
  },
  /** Replies when `count` more updates have arrived. */
  async expect({ count }) {
    waiting = count;
    await new Promise((resolve, reject) => {
      done = resolve;
      setTimeout(() => reject(new Error(`${waiting} updates did not arrive`)), 30_000).unref();
    });
    return { at: now() };
  },
  /** The last client stops reading. */
  stall() {
    readers.at(-1).socket.pause();
    return {};
  },
  /** Records the delay of every further update of the last client. */
  watch() {
    readers.at(-1).lags = [];
    return {};
  },
  /** Closes all streams, so that another gateway can be measured. */
  close() {
    for (const { socket } of readers.splice(0)) socket.destroy();
    return {};
  },
  lags: () => ({ lags: readers.flatMap(({ lags }) => lags?.splice(0) ?? []) }),
};

async function run({ job, ...options }) {
  try {
    process.send(await jobs[job](options));
  } catch (error) {
    process.send({ error: error.message });
  }
}

process.on('message', (job) => void run(job));
