import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../harness/config-file.mjs';
import { startServer } from '../harness/processes.mjs';
import { openSession } from '../harness/session.mjs';
import { untilListed } from '../harness/targets.mjs';

const CALLS = 10_000;
/** The log messages of one call: far beyond the rate of a server, so that they are read seconds later. */
const LINES = 30_000;
const DRAIN_TIMEOUT_MS = 60_000;
/** The first one calls alone for a while, so that calls of it and of no other client are in flight. */
const CLIENTS = ['a', 'b', 'c'];
/** Clients with a key each, named as the client, unless they share one. */
const STDIO_CLIENTS = ['a', 'b'];
/** The key of clients of one principal. */
const KEY = 'shared';
/** Longer than messages without an origin are dropped after a call. */
const QUIET_MS = 1500;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const SERVER = here('../servers/logging-backend.mjs');

/** Servers that log the argument of a call after its response: how many of these messages reach another client. */
export async function leaks() {
  return [
    ...(await leaksOf(`${CALLS} calls`, CALLS, callInTurnAndAtOnce)),
    ...(await leaksOf(`one call with ${LINES} lines`, LINES, ([client]) => client.call(1, { lines: LINES }))),
    ...(await leaksOf('a call that cuts the stream', 1, ([client]) => client.call(1, { cuts: true }))),
    ...(await leaksOf(`${CALLS} calls of two principals over stdio`, CALLS, callInTurnAndAtOnce, () =>
      startStdio(STDIO_CLIENTS, STDIO_CLIENTS),
    )),
    ...(await leaksOf(`${CALLS} calls of two clients of one key over stdio`, CALLS, callAtOnce, () =>
      startStdio(STDIO_CLIENTS, [KEY, KEY]),
    )),
  ];
}

/** The gateway in front of the server over HTTP, and its clients. */
async function startHttp() {
  const backend = await startServer([SERVER]);
  const gateway = await startGateway({ mcpServers: { bench: { url: backend.url } } });
  return { gateway, stop: backend.stop, clients: await openAll(gateway, CLIENTS) };
}

/** The gateway in front of the server over stdio, and clients with these names and keys. */
async function startStdio(names, keys) {
  const apiKeys = Array.from(new Set(keys), (id) => ({
    id,
    hash: `sha256:${hash('sha256', id)}`,
    projects: ['*'],
  }));
  const server = { command: process.execPath, args: [SERVER, 'stdio'] };
  const gateway = await startGateway({ auth: { apiKeys }, mcpServers: { bench: server } }, keys[0]);
  return { gateway, stop: () => {}, clients: await openAll(gateway, names, keys) };
}

async function startGateway(config, key) {
  const path = writeConfig({ metrics: { public: true }, ...config });
  const gateway = await startServer([here('../../dist/main.js'), '--config', path], {
    GATEHOUSE__HTTP__PORT: '0',
  });
  await untilListed(gateway, 'bench__log', key && authorizationOf(key));
  return gateway;
}

const authorizationOf = (key) => ({ authorization: `Bearer ${key}` });

const openAll = (gateway, names, keys = names) =>
  Promise.all(names.map((name, n) => LoggingClient.open(gateway.url, name, keys[n])));

async function leaksOf(calls, messages, act, start = startHttp) {
  const { leaked, own, dropped } = await measure(messages, act, start);
  console.log(
    `of ${messages} log messages of ${calls}, ${own} reached the client of the call, ${dropped} were dropped, ` +
      `${leaked} reached another client`,
  );
  return [
    { what: `log messages of ${calls} that reached another client`, is: leaked, ceiling: 0 },
    { what: `log messages of ${calls} that were delivered or dropped`, is: own + dropped, floor: messages },
  ];
}

async function callInTurnAndAtOnce(clients) {
  const perClient = Math.floor(CALLS / (clients.length + 1));
  await clients[0].call(CALLS - clients.length * perClient);
  await Promise.all(clients.map((client) => client.call(perClient)));
}

/** Calls of one client alone would show that the server logs after its responses. */
async function callAtOnce(clients) {
  const perClient = Math.floor(CALLS / clients.length);
  await Promise.all(
    clients.map((client, n) => client.call(n === 0 ? CALLS - (clients.length - 1) * perClient : perClient)),
  );
}

async function measure(messages, act, start) {
  const { gateway, stop, clients } = await start();
  const sum = (read) => clients.reduce((total, client) => total + read(client), 0);
  await act(clients);
  await sleep(QUIET_MS);
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  let dropped = await droppedBy(gateway);
  while (dropped + sum(({ own, foreign }) => own + foreign) < messages && performance.now() < deadline) {
    await sleep(100);
    dropped = await droppedBy(gateway);
  }
  for (const client of clients) client.close();
  await Promise.all([gateway.stop(), stop()]);
  return { leaked: sum(({ foreign }) => foreign), own: sum(({ own }) => own), dropped };
}

/** Messages that were dropped because their client is not known, or because the server sent too many. */
async function droppedBy(gateway) {
  const metrics = await (await fetch(new URL('/metrics', gateway.url))).text();
  return sumOf(metrics, 'unattributed') + sumOf(metrics, 'excess');
}

const sumOf = (metrics, reason) =>
  Array.from(
    metrics.matchAll(new RegExp(`^gatehouse_${reason}_server_messages_total\\{.*\\} (\\d+)$`, 'gm')),
    ([, count]) => Number(count),
  ).reduce((sum, count) => sum + count, 0);

/** A client that calls with its name as the argument, and counts the log messages it gets by whose they are. */
class LoggingClient {
  own = 0;
  foreign = 0;
  #name;
  #connection;
  #headers;
  #stream = new AbortController();
  #lastId = 0;

  static async open(url, name, key) {
    const client = new LoggingClient();
    client.#name = name;
    const { connection, headers } = await openSession(url, authorizationOf(key));
    client.#connection = connection;
    client.#headers = headers;
    await client.#request('logging/setLevel', { level: 'debug' });
    const { body } = await fetch(url, { headers, signal: client.#stream.signal });
    void client.#read(body);
    return client;
  }

  async call(count, options) {
    const params = { name: 'bench__log', arguments: { secret: this.#name, ...options } };
    for (let n = 0; n < count; n++) await this.#request('tools/call', params);
  }

  close() {
    this.#stream.abort();
    this.#connection.close();
  }

  async #request(method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params });
    const response = await this.#connection.request('POST', this.#headers, body);
    if (response.status !== 200) throw new Error(`${method} was answered with HTTP ${response.status}`);
    this.#count(response.body.toString());
  }

  async #read(stream) {
    let text = '';
    try {
      for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
        const lines = (text + chunk).split('\n');
        text = lines.pop();
        for (const line of lines) this.#count(line);
      }
    } catch (error) {
      if (!this.#stream.signal.aborted) throw error;
    }
  }

  #count(text) {
    for (const [, name] of text.matchAll(/"data":"(\w+)"/g)) {
      if (name === this.#name) this.own++;
      else this.foreign++;
    }
  }
}
