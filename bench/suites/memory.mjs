import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../harness/config-file.mjs';
import { HttpPeer, message } from '../harness/http-peer.mjs';
import { rssOf, startServer } from '../harness/processes.mjs';

const MB = 1_048_576;
const INITIALIZE_REQUESTS = 200;
const UNFINISHED_BODIES = 200;
const UNREAD_RESULTS = 40;
const FLOOD_MS = 32_000;
const MAX_OLD_SPACE_MB = 512;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What one client or one server can make the gateway hold: each attack on a gateway of its own, with a heap of 512 MB. */
export async function memory() {
  const bad = await startServer([here('../servers/hostile-server.mjs')]);
  const rows = [];
  for (const { what, ceiling, attack, series } of ATTACKS) {
    const gateway = await startGateway(bad.url);
    const before = rssOf(gateway);
    let peak = before;
    const watch = setInterval(() => (peak = Math.max(peak, rssOf(gateway))), 100);
    const outcome = await attack(gateway.url);
    clearInterval(watch);
    const counted = await countedBy(gateway, series);
    console.log(
      `${what}: ${outcome}, counted ${counted} times, RSS ${(before / MB).toFixed(0)} MB before, ${(peak / MB).toFixed(0)} MB at most`,
    );
    rows.push({ what: `MB more at most: ${what}`, is: (peak - before) / MB, ceiling });
    // An attack that did not reach its limit says nothing about the memory.
    rows.push({ what: `refusals counted: ${what}`, is: counted, floor: 1 });
    await gateway.stop();
  }
  await bad.stop();
  return rows;
}

const memoryLimit = (limit) => `gatehouse_memory_limits_total{limit="${limit}"}`;
/** Counts messages beyond the rate of a server. The hostile server also sends updates all the time, which count too. */
const EXCESS_MESSAGES = 'gatehouse_excess_server_messages_total{server_id="bad",outcome="dropped"}';

/** `series` are the metrics that count what stops the attack. */
const ATTACKS = [
  {
    what: '200 initialize requests of 4 MB',
    ceiling: 200,
    attack: initializeRequests,
    series: [memoryLimit('client-profile')],
  },
  {
    what: '200 unfinished bodies of 4 MB',
    ceiling: 200,
    attack: unfinishedBodies,
    series: [memoryLimit('request-bodies')],
  },
  {
    what: 'server-to-client requests of one call for 32 s',
    ceiling: 200,
    attack: serverRequests,
    series: [...['client-requests', 'link-requests', 'stream-queue'].map(memoryLimit), EXCESS_MESSAGES],
  },
  {
    what: '40 unread results of 15 MB',
    ceiling: 300,
    attack: unreadResults,
    series: [memoryLimit('unread-responses')],
  },
];

/** The sum of these metrics. */
async function countedBy({ url }, series) {
  const lines = (await (await fetch(new URL('/metrics', url))).text()).split('\n');
  const valueOf = (name) =>
    Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0);
  return series.reduce((sum, name) => sum + valueOf(name), 0);
}

async function initializeRequests(url) {
  const peer = new HttpPeer(url);
  const capabilities = { experimental: { x: { y: 'x'.repeat(3_900_000) } } };
  const outcomes = [];
  for (let sent = 0; sent < INITIALIZE_REQUESTS; sent += 20)
    outcomes.push(
      ...(await Promise.allSettled(Array.from({ length: 20 }, () => peer.initialize(capabilities)))),
    );
  peer.close();
  return `${outcomes.filter(({ status }) => status === 'fulfilled').length} accepted`;
}

/** Connections that send all of a request except for its last byte. */
async function unfinishedBodies(url) {
  const { hostname, port, pathname } = new URL(url);
  const body = Buffer.from(JSON.stringify(message('ping', { text: 'x'.repeat(4_000_000) })));
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    'Accept: application/json, text/event-stream',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  let refused = 0;
  const sockets = Array.from({ length: UNFINISHED_BODIES }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined).once('data', () => refused++);
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    socket.write(body.subarray(0, -1));
    return socket;
  });
  await sleep(5000);
  for (const socket of sockets) socket.destroy();
  return `${refused} refused`;
}

async function serverRequests(url) {
  const peer = new HttpPeer(url);
  const headers = await peer.initialize({ roots: {}, sampling: {}, elicitation: {} });
  const call = peer.send({
    headers,
    body: message('tools/call', { name: 'bad__requests', arguments: {} }),
    onResponse: (response) => response.pause(),
  });
  call.catch(() => undefined);
  await sleep(FLOOD_MS);
  peer.close();
  return 'flooded';
}

const longResult = () => message('tools/call', { name: 'bad__shape_long_string', arguments: {} });

async function unreadResults(url) {
  const peer = new HttpPeer(url);
  const headers = await peer.initialize();
  const calls = Array.from({ length: UNREAD_RESULTS }, () =>
    peer.send({ headers, body: longResult(), onResponse: (response) => response.pause().statusCode }),
  );
  const outcomes = await Promise.allSettled(calls);
  await sleep(2000);
  peer.close();
  return `${outcomes.filter(({ status }) => status === 'fulfilled').length} answered`;
}

async function startGateway(url) {
  const config = writeConfig({ mcpServers: { bad: { url, timeoutMs: 60_000 } } });
  const options = [`--max-old-space-size=${MAX_OLD_SPACE_MB}`];
  const gateway = await startServer([...options, here('../../dist/main.js'), '--config', config], {
    GATEHOUSE__HTTP__PORT: '0',
  });
  // Until the listing of the server and its 50,000 resources are in memory.
  await sleep(5000);
  return gateway;
}
