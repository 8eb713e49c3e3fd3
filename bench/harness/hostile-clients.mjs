// Hostile clients in a process of their own: runs every attack in turn, a few at once, until it is told to stop.
import { connect } from 'node:net';
import { HttpPeer, message } from './http-peer.mjs';
import { shapes } from './hostile-shapes.mjs';

const AT_ONCE = 4;
const PAUSE_MS = 50;
const UNREAD_MS = 2000;
const ATTACK_TIMEOUT_MS = 10_000;
const CLIENT_BYTES = 4_000_000;
const URI_BYTES = 8192;
const PIPELINING_CONNECTIONS = 200;
const PIPELINED_REQUESTS = 1000;
/** The last revision with batches, and the maximum number of messages of one. */
const BATCH_REVISION = '2025-03-26';
const BATCH_LENGTH = 20;

const state = { isRunning: false, outcomes: {}, attacks: 0, ran: new Set() };
let runs = [Promise.resolve()];

const bodies = Object.values(shapes).map((shape) => shape(CLIENT_BYTES));
const ignore = () => undefined;
/** The outcome of an attack that got no session to make. */
const NOT_RUN = 'no session';

/** Leaves the response unread for a while. */
const leaveUnread = (response, request) =>
  new Promise((resolve) => {
    response.pause();
    setTimeout(() => resolve(request.destroy()), UNREAD_MS);
  });

function attacksOn({ url, key, servers, tools }) {
  const [server] = servers;
  const stranger = new HttpPeer(url);
  const peer = new HttpPeer(url, key);
  const timeoutMs = ATTACK_TIMEOUT_MS;
  const withSession = (attack, version) => async () => {
    const headers = await peer
      .initialize({ roots: {}, sampling: {}, elicitation: {} }, undefined, version)
      .catch(() => undefined);
    if (!headers) return NOT_RUN;
    try {
      return await attack(headers);
    } finally {
      await peer.send({ method: 'DELETE', headers, timeoutMs });
    }
  };
  const call = (name, extra) =>
    withSession((headers) =>
      peer.send({ headers, body: message('tools/call', { name, arguments: {} }), timeoutMs, ...extra }),
    );
  const read = (uri) =>
    withSession((headers) => peer.send({ headers, body: message('resources/read', { uri }), timeoutMs }));
  return [
    ...bodies.flatMap((body) => [
      () => stranger.send({ path: '/nothing', body, timeoutMs }),
      () => stranger.send({ method: 'PUT', path: '/admin/v1/servers/x', body, timeoutMs }),
      () => peer.send({ body, timeoutMs }),
      withSession((headers) =>
        peer.send({
          headers,
          body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${body}}`,
          timeoutMs,
        }),
      ),
    ]),
    () => peer.initialize({ experimental: { x: { y: 'x'.repeat(3_000_000) } } }),
    () => peer.initialize({}, { name: 'x'.repeat(3_000_000), version: '1' }),
    ...servers.flatMap((each) =>
      tools.flatMap((tool) => [
        call(`${each}__${tool}`),
        call(`${each}__${tool}`, { onResponse: leaveUnread }),
      ]),
    ),
    // The server answers `initialize` with a megabyte.
    call('verbose__expire'),
    call('verbose__meta_members'),
    call('verbose__three_byte_text'),
    ...[server, 'verbose'].map((each) => read(`resource://${each}/bad://r/0`)),
    read(`resource://${server}/bad://t/${'a/'.repeat((URI_BYTES - 40) / 2)}`),
    withSession((headers) => peer.send({ headers, body: longBatch(server), timeoutMs }), BATCH_REVISION),
    withSession((headers) => peer.send({ method: 'GET', headers, timeoutMs, onResponse: leaveUnread })),
    withSession((headers) =>
      Promise.allSettled(
        Array.from({ length: 200 }, () =>
          peer.send({ headers, body: message('tools/call', { name: `${server}__hang` }), timeoutMs: 1000 }),
        ),
      ),
    ),
    // Sessions that are never closed.
    () => Promise.allSettled(Array.from({ length: 50 }, () => peer.initialize())),
    () => unfinishedRequest(url),
    () => Promise.all(Array.from({ length: PIPELINING_CONNECTIONS }, () => pipelinedRequests(url))),
  ];
}

/** A batch of calls whose arguments are long. */
function longBatch(server) {
  const text = 'x'.repeat(CLIENT_BYTES / BATCH_LENGTH - 1000);
  const params = { name: `${server}__large`, arguments: { text } };
  return `[${Array.from({ length: BATCH_LENGTH }, () => message('tools/call', params)).join(',')}]`;
}

/** A request whose body does not end. */
function unfinishedRequest(url) {
  const { hostname, port, host, pathname } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 1000\r\n\r\n{`);
    socket.on('error', ignore);
    setTimeout(() => resolve(socket.destroy()), UNREAD_MS);
  });
}

/** Many small requests on one connection, which the gateway closes. */
function pipelinedRequests(url) {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.write(`GET /health/live HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(PIPELINED_REQUESTS));
    socket.on('error', ignore).on('data', ignore).on('close', resolve);
    setTimeout(() => socket.destroy(), UNREAD_MS);
  });
}

/** An error of JSON-RPC may come with HTTP 200. */
function outcomeOf(response) {
  if (response === NOT_RUN || !response?.status) return response === NOT_RUN ? NOT_RUN : 'done';
  if (response.status !== 200) return `HTTP ${response.status}`;
  return response.body.slice(0, 400).includes('"error"') ? 'refused' : 'answered';
}

async function run(attacks, offset) {
  for (let i = offset; state.isRunning; i++) {
    const number = i % attacks.length;
    const outcome = await Promise.resolve()
      .then(attacks[number])
      .then(outcomeOf, ({ code, message: reason }) => (code === 'ECONNREFUSED' ? NOT_RUN : (code ?? reason)));
    if (outcome !== NOT_RUN) state.ran.add(number);
    state.outcomes[outcome] = (state.outcomes[outcome] ?? 0) + 1;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const jobs = {
  start(options) {
    state.isRunning = true;
    const attacks = attacksOn(options);
    state.attacks = attacks.length;
    const step = Math.floor(attacks.length / AT_ONCE);
    runs = Array.from({ length: AT_ONCE }, (_, number) => run(attacks, number * step));
    return { attacks: attacks.length };
  },
  async stop() {
    state.isRunning = false;
    await Promise.all(runs);
    return { outcomes: state.outcomes, attacks: state.attacks, ran: state.ran.size };
  },
};

process.on('message', ({ job, ...options }) => {
  void Promise.resolve(jobs[job](options)).then((reply) => process.send(reply));
});
process.on('disconnect', () => process.exit());
