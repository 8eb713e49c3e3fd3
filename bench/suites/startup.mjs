import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../harness/caller.mjs';
import { temporaryDirectory, writeConfig } from '../harness/config-file.mjs';
import { freePort } from '../harness/nginx.mjs';

const SERVERS = 100;
const BROKEN = 19;
const LISTED_TIMEOUT_MS = 300_000;
const LIST_INTERVAL_MS = 250;
/** How long the broken servers run before their CPU time is measured: long enough for the longest backoff. */
const BACKOFF_MS = Number(process.env.BENCH_BACKOFF_MS ?? 600_000);
/** As long as the longest backoff, so that every broken server is started once. */
const WINDOW_MS = Number(process.env.BENCH_WINDOW_MS ?? 300_000);
const TICKS_PER_SECOND = 100;
/** In `_meta` of a listed tool: the id of its server. */
const SERVER_MARK = 'io.gatehouse/server';

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** A start with a hundred servers, of which some are broken, and the cost of the broken ones after the backoff. */
export async function startup() {
  const healthy = healthyServers(SERVERS - BROKEN);
  const gateway = await StartedGateway.start({ ...healthy, ...brokenServers() });
  const listedMs = await gateway.untilListed(Object.keys(healthy));
  const { liveMs } = gateway;
  await gateway.stop();
  console.log(
    `${SERVERS} servers, ${BROKEN} of them broken: live after ${liveMs} ms, all healthy ones listed after ${listedMs} ms`,
  );
  const cores = await brokenCores();
  console.log(`${BROKEN} broken servers after ${BACKOFF_MS / 1000} s: ${cores.toFixed(3)} cores`);
  return [
    { what: `milliseconds to /health/live with ${SERVERS} servers`, is: liveMs, ceiling: 1000 },
    {
      what: 'milliseconds until the tools of all healthy servers are listed',
      is: listedMs,
      ceiling: LISTED_TIMEOUT_MS,
    },
    { what: `cores that ${BROKEN} broken servers use after the backoff`, is: cores, ceiling: 0.05 },
  ];
}

const module = (name, ...args) => [
  `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`,
  ...args,
];
const node = (script) => ({ command: process.execPath, args: ['-e', script] });

/** Copies of the servers of the default configuration. */
function healthyServers(count) {
  const directory = temporaryDirectory();
  const servers = {};
  for (let n = 0; n < count; n++) {
    const args = [module('everything', 'stdio'), module('filesystem', './docs'), module('memory')][n % 3];
    const env = { MEMORY_FILE_PATH: join(directory, `${n}.jsonl`) };
    servers[`healthy${n}`] = { command: process.execPath, args, env };
  }
  return servers;
}

/** Servers that exit at once, exit after a while, never answer, or cannot be reached. */
function brokenServers() {
  const kinds = [
    node('process.exit(1)'),
    node("require('node:http'); setTimeout(() => process.exit(1), 500)"),
    node("process.stdin.once('data', () => { throw new Error('no credentials') })"),
    { command: 'sleep', args: ['3600'] },
    { url: 'http://127.0.0.1:9/mcp' },
  ];
  const servers = {};
  for (let n = 0; n < BROKEN; n++) servers[`broken${n}`] = kinds[n % kinds.length];
  return servers;
}

/** CPU time of a gateway with broken servers and of all their processes, in cores. */
async function brokenCores() {
  const gateway = await StartedGateway.start(brokenServers());
  await sleep(BACKOFF_MS);
  const before = gateway.cpuSeconds();
  await sleep(WINDOW_MS);
  const used = gateway.cpuSeconds() - before;
  await gateway.stop();
  return used / (WINDOW_MS / 1000);
}

class StartedGateway {
  #child;
  #url;
  #startedAt = performance.now();
  liveMs = 0;

  static async start(mcpServers) {
    const gateway = new StartedGateway();
    const port = await freePort();
    const config = writeConfig({ http: { port }, shutdown: { drainMs: 0 }, mcpServers });
    gateway.#url = `http://127.0.0.1:${port}`;
    gateway.#startedAt = performance.now();
    gateway.#child = spawn(process.execPath, ['dist/main.js', '--config', config], { stdio: 'ignore' });
    running.add(gateway.#child);
    gateway.liveMs = await gateway.#until(
      'live',
      async () => (await fetch(`${gateway.#url}/health/live`)).ok,
    );
    return gateway;
  }

  /** Resolves when the tools of all these servers are listed, with the time since the start of the gateway. */
  async untilListed(ids) {
    const client = await Caller.open(`${this.#url}/mcp`);
    const isListed = async () => {
      const listed = await serversListedTo(client);
      return ids.every((id) => listed.has(id));
    };
    const ms = await this.#until('listing the tools of all healthy servers', isListed, LIST_INTERVAL_MS);
    client.close();
    return ms;
  }

  /** Of the gateway, and of all processes that it has started and that have ended or still run. */
  cpuSeconds() {
    const own = statOf(this.#child.pid).slice(11, 15);
    const children = childrenOf(this.#child.pid).flatMap((pid) => statOf(pid).slice(11, 15));
    return [...own, ...children].reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  }

  async stop() {
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
    running.delete(this.#child);
  }

  async #until(what, condition, intervalMs = 10) {
    for (;;) {
      const isMet = await condition().catch(() => false);
      const ms = Math.round(performance.now() - this.#startedAt);
      if (isMet) return ms;
      if (ms > LISTED_TIMEOUT_MS) throw new Error(`the gateway was not ${what} in time`);
      await sleep(intervalMs);
    }
  }
}

/** The ids of the servers in `tools/list`, on all pages. */
async function serversListedTo(client) {
  const ids = new Set();
  for (let cursor; ;) {
    const { result } = await client.request('tools/list', cursor === undefined ? {} : { cursor });
    for (const { _meta: meta } of result.tools) ids.add(meta?.[SERVER_MARK]);
    cursor = result.nextCursor;
    if (cursor === undefined) return ids;
  }
}

const childrenOf = (pid) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);

/** The fields after the process name, from the third one. */
function statOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
