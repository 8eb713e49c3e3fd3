import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeConfig } from '../harness/config-file.mjs';
import { rssOf, startServer, startWorker } from '../harness/processes.mjs';
import { HttpPeer, message } from '../harness/http-peer.mjs';

const MINUTES = Number(process.env['HOSTILE_MINUTES'] ?? 10);
const CLIENTS = 100;
/** Until the hostile servers are listed. Latencies of this time are not measured. */
const WARM_UP_SECONDS = 20;
const QUIET_SECONDS = 60;
/** No piece of work of the event loop may take longer. */
const MAX_STALL_MS = 50;
/** A request waits for pieces of such work. Clients that call a server without the gateway show how long it waits for a processor. */
const MAX_P99_GROWTH_MS = 30;
const RECOVERY_SECONDS = 60;
const MB = 1_048_576;
/** One tool of every server: the attacks start when all are listed. */
const LISTED = ['good__echo', 'bad__hang', 'sse__hang', 'verbose__hang', 'flood__hang'];
/** Calls of a well-behaved client per second, and the share of them that must have been made. */
const CALLS_PER_SECOND = 2;
const MADE_SHARE = 0.9;
const SESSION_IDLE_MS = 20_000;
const key = {
  steady: 'gk-steady-0123456789abcdef0123456789abcdef',
  hostile: 'gk-hostile-0123456789abcdef0123456789abcde',
};

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Well-behaved clients of one server beside hostile clients and hostile servers; the duration in minutes is HOSTILE_MINUTES. */
export async function hostile() {
  const backend = await startServer([here('../servers/lean-backend.mjs')]);
  const control = await startServer([here('../servers/lean-backend.mjs')]);
  const bad = await startServer([here('../servers/hostile-server.mjs')]);
  const gateway = await startGateway(backend.url, bad.url);
  await untilCallable(gateway.url);
  const steady = startWorker(here('../harness/steady-clients.mjs'));
  const direct = startWorker(here('../harness/steady-clients.mjs'));
  const attackers = startWorker(here('../harness/hostile-clients.mjs'));
  const tools = await hostileTools(gateway.url);

  await steady({ job: 'open', url: gateway.url, key: key.steady, count: CLIENTS, tool: 'good__echo' });
  await direct({ job: 'open', url: control.url, key: key.steady, count: CLIENTS, tool: 'echo' });
  const report = async () => ({
    steady: await steady({ job: 'report' }),
    direct: await direct({ job: 'report' }),
  });
  await sleep(WARM_UP_SECONDS * 1000);
  await report();
  await sleep(QUIET_SECONDS * 1000);
  const quiet = await report();
  const before = await memoryOf(gateway);
  await gateway.ask('stall');
  await attackers({ job: 'start', url: gateway.url, key: key.hostile, servers: ['bad', 'sse'], tools });
  const stalls = [];
  let peak = 0;
  for (let second = 0; second < MINUTES * 60; second += 5) {
    await sleep(5000);
    stalls.push((await gateway.ask('stall')).own);
    peak = Math.max(peak, rssOf(gateway));
  }
  const attacked = await report();
  const under = attacked.steady;
  const { outcomes, attacks, ran } = await attackers({ job: 'stop' });
  await sleep(RECOVERY_SECONDS * 1000);
  const after = await memoryOf(gateway);
  await Promise.all([steady({ job: 'close' }), direct({ job: 'close' })]);
  await Promise.all([backend.stop(), control.stop(), bad.stop(), gateway.stop()]);

  const longestStall = Math.max(...stalls);
  console.log(`attacks: ${JSON.stringify(outcomes)}`);
  console.log(`well-behaved requests: ${under.requests}, failed: ${under.failures.length}`);
  for (const failure of new Set(under.failures.slice(0, 20))) console.log(`  ${failure}`);
  for (const [name, what] of [
    ['steady', 'well-behaved requests'],
    ['direct', 'requests without the gateway'],
  ]) {
    const [earlier, later] = [quiet, attacked].map((each) => each[name].p99.toFixed(1));
    console.log(`p99 of ${what}: ${earlier} ms before, ${later} ms under attack`);
  }
  console.log(
    `RSS: ${(before.rss / MB).toFixed(0)} MB before, ${(peak / MB).toFixed(0)} MB at most, ${(after.rss / MB).toFixed(0)} MB after`,
  );
  console.log(`held: ${(before.held / MB).toFixed(1)} MB before, ${(after.held / MB).toFixed(1)} MB after\n`);
  return [
    { what: 'ms of the longest stall of the event loop', is: longestStall, ceiling: MAX_STALL_MS },
    { what: 'attacks that ran', is: ran, floor: attacks },
    {
      what: 'well-behaved requests',
      is: under.requests,
      floor: MINUTES * 60 * CLIENTS * CALLS_PER_SECOND * MADE_SHARE,
    },
    { what: 'well-behaved requests that failed', is: under.failures.length, ceiling: 0 },
    {
      what: 'ms that the p99 grows by, beyond that of requests without the gateway',
      is: under.p99 - quiet.steady.p99 - (attacked.direct.p99 - quiet.direct.p99),
      ceiling: MAX_P99_GROWTH_MS,
    },
    { what: 'memory held afterwards : before', is: after.held / before.held, ceiling: 1.25 },
    { what: 'RSS afterwards : before', is: after.rss / before.rss, ceiling: 1.5 },
  ];
}

function startGateway(good, bad) {
  const apiKeys = Object.entries(key).map(([id, secret]) => ({
    id,
    hash: `sha256:${hash('sha256', secret, 'hex')}`,
    projects: ['*'],
  }));
  const config = writeConfig({
    auth: { apiKeys },
    limits: { sessionIdleMs: SESSION_IDLE_MS },
    mcpServers: {
      good: { url: good },
      bad: { url: bad, timeoutMs: 5000 },
      sse: { type: 'sse', url: new URL('/sse', bad).href, timeoutMs: 5000 },
      verbose: { url: new URL('/verbose', bad).href, timeoutMs: 10_000 },
      flood: { command: process.execPath, args: [here('../servers/hostile-stdio.mjs')], timeoutMs: 5000 },
    },
  });
  const gauge = ['--expose-gc', '--import', here('../harness/stall-gauge.mjs')];
  return startServer([...gauge, here('../../dist/main.js'), '--config', config], {
    GATEHOUSE__HTTP__PORT: '0',
    // As in the image.
    MALLOC_ARENA_MAX: '2',
    MALLOC_MMAP_THRESHOLD_: '262144',
    MALLOC_TRIM_THRESHOLD_: '1048576',
  });
}

async function listedTools(url) {
  const peer = new HttpPeer(url, key.steady);
  const headers = await peer.initialize();
  const { body } = await peer.send({ headers, body: message('tools/list', {}) });
  peer.close();
  return JSON.parse(body).result.tools.map(({ name }) => name);
}

async function untilCallable(url) {
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    const listed = await listedTools(url);
    const missing = LISTED.filter((name) => !listed.includes(name));
    if (missing.length === 0) return;
    if (Date.now() > giveUpAt) throw new Error(`${missing.join(', ')}: not listed in time`);
    await sleep(100);
  }
}

const hostileTools = async (url) =>
  (await listedTools(url)).flatMap((name) => (name.startsWith('bad__') ? [name.slice('bad__'.length)] : []));

async function memoryOf(gateway) {
  const { heapUsed, external } = await gateway.ask('memory');
  return { held: heapUsed + external, rss: rssOf(gateway) };
}
