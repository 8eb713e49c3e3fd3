import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limitsFor } from '../harness/client-limits.mjs';
import { writeConfig } from '../harness/config-file.mjs';
import { cpuMicroseconds } from '../harness/cpu-time.mjs';
import { startServer, startWorker } from '../harness/processes.mjs';
import { median, percentile } from '../harness/statistics.mjs';

const CLIENTS = 10_000;
const ROUNDS = 7;
const MANY_UPDATES = 300_000;
const BURST_ROUNDS = 10;
/** Updates in one write of the server. */
const BURST = 120;
const [WIDE, NARROW] = ['resource://bench/bench://wide', 'resource://bench/bench://narrow'];
const PROBE = 'resource://probe/bench://probe';
const QUIET_MS = 1500;
const MB = 1_048_576;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** One update to 10,000 clients of each era, and 300,000 updates to one that does not read. */
export async function fanout() {
  const clients = startWorker(here('../harness/fanout-clients.mjs'));
  const sessions = await fanOutTo({ clients, isListen: false });
  const listens = await fanOutTo({ clients, isListen: true });
  const { stalled } = sessions;
  const p99Increase = stalled.subscribed - stalled.unsubscribed;
  print([
    ...rowsOf('10,000 sessions', sessions),
    ...rowsOf('10,000 listens', listens),
    ['RSS for 300,000 updates to a stalled client', stalled.rss / MB, 'MB'],
    ['p99 of another client: updates without subscriber', stalled.unsubscribed, 'ms'],
    ['p99 of another client: updates to the stalled client', stalled.subscribed, 'ms'],
  ]);
  return [
    ...limitsOf('10,000 sessions', sessions, 20),
    ...limitsOf('10,000 listens', listens, Math.min(20, sessions.perStream)),
    { what: 'MB of RSS for 300,000 updates to a stalled client', is: stalled.rss / MB, ceiling: 5 },
    { what: 'ms by which the p99 of another client increases', is: Math.max(0, p99Increase), ceiling: 3 },
  ];
}

const rowsOf = (who, { lastClient, perDelivery, longestStall, perStream }) => [
  [`${who}: the last has the update after`, lastClient, 'ms'],
  [`${who}: CPU per delivery`, perDelivery, 'us'],
  [`${who}: longest stall of the event loop`, longestStall, 'ms'],
  [`${who}: RSS per idle stream`, perStream, 'KB'],
];

const limitsOf = (who, { lastClient, perDelivery, longestStall, perStream }, kilobytes) => [
  { what: `ms until the last of ${who} has the update`, is: lastClient, ceiling: 400 },
  { what: `us of CPU per delivery to ${who}`, is: perDelivery, ceiling: 25 },
  { what: `ms of the longest stall of the event loop with ${who}`, is: longestStall, ceiling: 50 },
  { what: `KB of RSS per idle stream of ${who}`, is: perStream, ceiling: kilobytes },
];

/** A gateway with 10,000 sessions, or as many listen streams. It ends before the next one is measured. */
async function fanOutTo({ clients, isListen }) {
  const backend = await startServer([here('../servers/fanout-backend.mjs')]);
  // The updates of one server are subject to a rate limit. The other client is one of another server.
  const probe = await startServer([here('../servers/fanout-backend.mjs')]);
  const withGauge = ['--import', here('../harness/stall-gauge.mjs')];
  const gateway = await startServer(
    [...withGauge, here('../../dist/main.js'), '--config', configFor(backend.url, probe.url)],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const ask = (job, options) => clients({ job, ...options });
  await untilListed(gateway.url, 2);

  await ask('open', { url: gateway.url, uri: WIDE, count: 100, isListen });
  const before = await idleRss(gateway);
  await ask('open', { url: gateway.url, uri: WIDE, count: CLIENTS - 100, isListen });
  const perStream = ((await idleRss(gateway)) - before) / (CLIENTS - 100) / 1024;
  const wide = [];
  for (let round = 0; round < ROUNDS; round++) wide.push(await updateAll({ backend, gateway, ask }));
  const stalled = isListen ? undefined : await updateStalledClient({ backend, probe, gateway, ask });
  await ask('close');
  await Promise.all([backend.stop(), probe.stop(), gateway.stop()]);
  return {
    lastClient: median(wide.map(({ ms }) => ms)),
    perDelivery: median(wide.map(({ cpu }) => cpu / CLIENTS)),
    longestStall: Math.max(...wide.map(({ stall }) => stall)),
    perStream,
    stalled,
  };
}

async function updateAll({ backend, gateway, ask }) {
  const arrived = ask('expect', { count: CLIENTS });
  await gateway.ask('stall');
  const cpu = cpuMicroseconds(gateway.pid);
  const sent = await backend.ask({ updated: 'bench://wide' });
  const { at } = await arrived;
  await sleep(50);
  const { own } = await gateway.ask('stall');
  return { ms: at - sent.at, cpu: cpuMicroseconds(gateway.pid) - cpu, stall: own };
}

/**
 * Sends updates of a resource without subscribers, then bursts of them interleaved with bursts of updates to one client that
 * does not read. The delay of updates to another client shows whether the bursts affect it.
 */
async function updateStalledClient({ backend, probe, gateway, ask }) {
  const { url } = gateway;
  await ask('open', { url, uri: PROBE, count: 1 });
  await ask('watch');
  const p99Of = async (updated, times) => {
    const bursts = times / BURST;
    await Promise.all([
      backend.ask({ updated, bursts, length: BURST }),
      probe.ask({ updated: 'bench://probe', bursts, length: 1 }),
    ]);
    const { lags } = await ask('lags');
    return percentile(lags, 0.99);
  };
  await p99Of('bench://unsubscribed', MANY_UPDATES);
  await ask('open', { url, uri: NARROW, count: 1 });
  await ask('stall');
  const before = await idleRss(gateway);
  const p99s = { 'bench://unsubscribed': [], 'bench://narrow': [] };
  for (let round = 0; round < BURST_ROUNDS; round++) {
    const kinds = Object.keys(p99s);
    // The order alternates: a round lasts as long as the interval of the keep-alive, which would fall on one kind only.
    for (const uri of round % 2 === 0 ? kinds : kinds.toReversed())
      p99s[uri].push(await p99Of(uri, MANY_UPDATES / BURST_ROUNDS));
  }
  const [unsubscribed, subscribed] = Object.values(p99s).map(median);
  return { unsubscribed, subscribed, rss: (await idleRss(gateway)) - before };
}

/** RSS of the gateway when it is idle. */
async function idleRss({ pid }) {
  await sleep(QUIET_MS);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kilobytes) * 1024;
}

function configFor(url, probeUrl) {
  return writeConfig({
    limits: limitsFor(CLIENTS),
    mcpServers: { bench: { url }, probe: { url: probeUrl } },
  });
}

export async function untilListed(url, servers = 1) {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const ready = await fetch(new URL('/health', url)).then((answer) => answer.json());
    if (JSON.stringify(ready).split('"ready"').length > servers) return;
    if (Date.now() > giveUpAt) throw new Error('no server became ready in time');
    await sleep(50);
  }
}

function print(rows) {
  console.log(`| ${'fan-out'.padEnd(46)} | ${''.padStart(12)} |`);
  console.log(`| ${'-'.repeat(46)} | ${'-'.repeat(11)}: |`);
  for (const [what, value, unit] of rows)
    console.log(`| ${what.padEnd(46)} | ${`${value.toFixed(1)} ${unit}`.padStart(12)} |`);
  console.log();
}
