import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limitsFor } from '../harness/client-limits.mjs';
import { writeConfig } from '../harness/config-file.mjs';
import { startServer, startWorker } from '../harness/processes.mjs';

const CLIENTS = 10_000;
const SERVERS = 100;
const ROUNDS = 5;
const TOOLS = 20_000;
const PAGE_SIZE = 1000;
const TOKEN = 'admin-token-of-the-benchmark';
const READS = [
  'summary',
  'servers',
  'sessions',
  'sessions?q=reader',
  'subscriptions',
  'subscriptions?q=bench',
  'servers/wide',
  'servers/wide/tools',
];
const PAGED = /^(sessions|subscriptions)/;
/** Entries that a list must have for its figure to count. */
const ENTRIES = { sessions: CLIENTS, subscriptions: CLIENTS };

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Reads of the admin API with 10,000 sessions, each with a subscription, the secrets of 100 servers, and a server with
 * 20,000 tools.
 */
export async function admin() {
  const backend = await startServer([here('../servers/fanout-backend.mjs')]);
  const wide = await startServer([here('../servers/lean-backend.mjs'), String(TOOLS)]);
  const gateway = await startServer(
    [
      '--import',
      here('../harness/stall-gauge.mjs'),
      here('../../dist/main.js'),
      '--config',
      configFor(backend.url, wide.url),
    ],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const clients = startWorker(here('../harness/fanout-clients.mjs'));
  await untilSubscribable(gateway.url, clients);
  await clients({ job: 'open', url: gateway.url, uri: 'bench://wide', count: CLIENTS - 1 });
  const stalls = new Map();
  for (const path of READS) {
    const found = [];
    for (let round = 0; round < ROUNDS; round++) {
      await gateway.ask('stall');
      await readAll(gateway.url, path);
      found.push((await gateway.ask('stall')).own);
    }
    stalls.set(path, Math.max(...found));
  }
  await Promise.all([backend.stop(), wide.stop(), gateway.stop()]);
  print(stalls);
  return [...stalls].map(([path, is]) => ({ what: `ms of the longest stall of ${path}`, is, ceiling: 50 }));
}

/** The client's first subscription succeeds when the server has been synced. */
async function untilSubscribable(url, clients) {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    const failed = await clients({ job: 'open', url, uri: 'bench://wide', count: 1 }).catch((error) => error);
    if (!(failed instanceof Error)) return;
    if (Date.now() > giveUpAt) throw failed;
    await sleep(50);
  }
}

async function readAll(url, path) {
  const target = new URL(`/admin/v1/${path}`, url);
  if (PAGED.test(path)) target.searchParams.set('limit', PAGE_SIZE);
  let entries = 0;
  for (let cursor; cursor !== null;) {
    if (cursor) target.searchParams.set('cursor', cursor);
    const answer = await fetch(target, { headers: { authorization: `Bearer ${TOKEN}` } });
    if (!answer.ok) throw new Error(`${target} answers ${answer.status}: ${await answer.text()}`);
    const page = await answer.json();
    entries += page[path]?.length ?? 0;
    cursor = page.nextCursor ?? null;
  }
  const expected = ENTRIES[path] ?? 0;
  if (entries < expected) throw new Error(`${target} has ${entries} of ${expected} entries`);
}

const secrets = (n) => ({
  authorization: `Bearer t0ken-of-${n}-abcdef`,
  'x-api-key': `k3y-of-${n}-abcdef`,
});

function configFor(url, wideUrl) {
  const idle = Array.from({ length: SERVERS - 1 }, (_, n) => [
    `idle${n}`,
    { url, headers: secrets(n), enabled: false },
  ]);
  return writeConfig({
    limits: limitsFor(CLIENTS),
    admin: { token: TOKEN },
    mcpServers: { bench: { url }, wide: { url: wideUrl }, ...Object.fromEntries(idle) },
  });
}

function print(stalls) {
  console.log(`| ${'longest stall of a read of the admin API'.padEnd(42)} | ${''.padStart(9)} |`);
  console.log(`| ${'-'.repeat(42)} | ${'-'.repeat(8)}: |`);
  for (const [path, ms] of stalls)
    console.log(`| ${`GET ${path}`.padEnd(42)} | ${`${ms.toFixed(1)} ms`.padStart(9)} |`);
  console.log();
}
