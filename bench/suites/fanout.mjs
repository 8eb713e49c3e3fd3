import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuMicroseconds } from '../cpu-time.mjs';
import { startServer, startWorker } from '../processes.mjs';

const CLIENTS = 10_000;
const ROUNDS = 7;
const STORM = 300_000;
const STORM_ROUNDS = 10;
const QUIET_MS = 1500;
const MB = 1_048_576;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** One update to 10,000 clients, and 300,000 updates to one that does not read. */
export async function fanout() {
  const backend = await startServer([here('../fanout-backend.mjs')]);
  const gauged = ['--import', here('../gauge.mjs')];
  const gateway = await startServer(
    [...gauged, here('../../dist/main.js'), '--config', configFor(backend.url)],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const readers = startWorker(here('../fanout-readers.mjs'));
  const ask = (job, options) => readers({ job, ...options });
  await untilListed(gateway.url);

  await ask('open', { url: gateway.url, uri: 'bench://wide', count: 100 });
  const before = await settledRss(gateway);
  await ask('open', { url: gateway.url, uri: 'bench://wide', count: CLIENTS - 100 });
  const perStream = ((await settledRss(gateway)) - before) / (CLIENTS - 100);
  const wide = [];
  for (let round = 0; round < ROUNDS; round++) wide.push(await updateAll({ backend, gateway, ask }));
  const storm = await stormOver({ backend, gateway, ask });
  await Promise.all([backend.stop(), gateway.stop()]);

  const moved = storm.forStalled - storm.forNobody;
  const lastClient = median(wide.map(({ ms }) => ms));
  const perDelivery = median(wide.map(({ cpu }) => cpu / CLIENTS));
  const longestTurn = median(wide.map(({ stall }) => stall));
  print([
    ['last of 10,000 clients has it after', lastClient, 'ms'],
    ['CPU per delivery', perDelivery, 'us'],
    ['longest turn of the event loop', longestTurn, 'ms'],
    ['RSS per idle stream', perStream / 1024, 'KB'],
    ['RSS for 300,000 updates to a stalled reader', storm.rss / MB, 'MB'],
    ['p99 of another client: storm for nobody', storm.forNobody, 'ms'],
    ['p99 of another client: storm for the stalled', storm.forStalled, 'ms'],
  ]);
  return [
    { what: 'ms until the last of 10,000 clients has it', is: lastClient, ceiling: 400 },
    { what: 'us of CPU per delivery', is: perDelivery, ceiling: 25 },
    { what: 'ms of the longest turn of the event loop', is: longestTurn, ceiling: 50 },
    { what: 'KB of RSS per idle stream', is: perStream / 1024, ceiling: 20 },
    { what: 'MB of RSS for 300,000 updates to a stalled reader', is: storm.rss / MB, ceiling: 5 },
    { what: "ms that another client's p99 moves", is: Math.max(0, moved), ceiling: 3 },
  ];
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
 * A storm for nobody, then the same in gusts for one client that takes nothing from its socket, and in turns with them
 * gusts that are for nobody: what else happens on the machine hits both.
 */
async function stormOver({ backend, gateway, ask }) {
  const { url } = gateway;
  await ask('open', { url, uri: 'bench://beat', count: 1 });
  await ask('watch');
  const p99Of = async (updated, times) => {
    await backend.ask({ updated, times });
    const { lags } = await ask('lags');
    return lags.toSorted((a, b) => a - b)[Math.floor(lags.length * 0.99)];
  };
  await p99Of('bench://unheard', STORM);
  await ask('open', { url, uri: 'bench://narrow', count: 1 });
  await ask('stall');
  const before = await settledRss(gateway);
  const p99s = { 'bench://unheard': [], 'bench://narrow': [] };
  for (let round = 0; round < STORM_ROUNDS; round++) {
    const gusts = Object.keys(p99s);
    // A round is as long as the pause between two looks at all streams: in one order, one kind would have them all.
    for (const uri of round % 2 === 0 ? gusts : gusts.toReversed())
      p99s[uri].push(await p99Of(uri, STORM / STORM_ROUNDS));
  }
  const [forNobody, forStalled] = Object.values(p99s).map(median);
  return { forNobody, forStalled, rss: (await settledRss(gateway)) - before };
}

/** Of the gateway once it has nothing to do. */
async function settledRss({ pid }) {
  await sleep(QUIET_MS);
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kilobytes) * 1024;
}

function configFor(url) {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-fanout-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'gatehouse.json');
  const limits = { sessions: 2 * CLIENTS };
  writeFileSync(
    path,
    JSON.stringify({ stateDir: join(directory, 'state'), limits, mcpServers: { bench: { url } } }),
  );
  return path;
}

async function untilListed(url) {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const ready = await fetch(new URL('/health', url)).then((answer) => answer.json());
    if (JSON.stringify(ready).includes('"ready"')) return;
    if (Date.now() > giveUpAt) throw new Error('the gateway has no server');
    await sleep(50);
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

function print(rows) {
  console.log(`| ${'fan-out'.padEnd(46)} | ${''.padStart(12)} |`);
  console.log(`| ${'-'.repeat(46)} | ${'-'.repeat(11)}: |`);
  for (const [what, value, unit] of rows)
    console.log(`| ${what.padEnd(46)} | ${`${value.toFixed(1)} ${unit}`.padStart(12)} |`);
  console.log();
}
