import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isInstalled, startBalancer } from '../harness/balancers.mjs';
import { writeConfig } from '../harness/config-file.mjs';
import { freePort } from '../harness/nginx.mjs';

const BALANCERS = ['haproxy', 'nginx'];
const RESTARTS = 10;
const REQUESTS_PER_SECOND = 200;
const ACCEPT_MS = 1500;
const READY_TIMEOUT_MS = 30_000;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Requests that need no session, in alternation. `failure` says what is wrong with a response of HTTP 200. */
const REQUESTS = [
  { method: 'GET', path: '/health/live', failure: () => undefined },
  {
    method: 'POST',
    path: '/mcp',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1' },
      },
    }),
    failure: (text) => (isInitialized(text) ? undefined : `no result: ${text.slice(0, 200)}`),
  },
];

/** Whether the text is the JSON-RPC response to `initialize`, and a result. An error may come with HTTP 200 too. */
function isInitialized(text) {
  try {
    const { id, result } = JSON.parse(text);
    return id === 1 && typeof result?.protocolVersion === 'string';
  } catch {
    return false;
  }
}

/** A rolling restart behind a balancer: one of two gateways is stopped and started again while requests arrive. */
export async function restarts() {
  const rows = [];
  for (const name of BALANCERS) {
    if (isInstalled(name)) rows.push(await restartBehind(name));
    else console.log(`${name} is not installed (Debian: apt-get install ${name}): left out`);
  }
  if (rows.length === 0) throw new Error('no balancer is installed: nothing was measured');
  return rows;
}

async function restartBehind(name) {
  const gateways = [new RestartableGateway(await freePort()), new RestartableGateway(await freePort())];
  await Promise.all(gateways.map((gateway) => gateway.start()));
  const balancer = await startBalancer(
    name,
    gateways.map(({ port }) => port),
  );
  await untilReady(balancer.url);
  const load = new SteadyLoad(balancer.url);
  for (let n = 0; n < RESTARTS; n++) {
    await gateways[0].stop('SIGTERM');
    await gateways[0].start();
  }
  await load.stop();
  balancer.stop();
  await Promise.all(gateways.map((gateway) => gateway.stop('SIGKILL')));
  const { sent, lost } = load;
  const reasons = [...new Set(lost)]
    .map((reason) => `${lost.filter((one) => one === reason).length} ${reason}`)
    .join(', ');
  console.log(
    `${name}: ${RESTARTS} restarts, ${sent} requests, ${lost.length} lost${reasons && `: ${reasons}`}`,
  );
  if (sent < (RESTARTS * ACCEPT_MS * REQUESTS_PER_SECOND) / 1000)
    throw new Error(`only ${sent} requests were sent during the restarts`);
  return { what: `requests lost by ${RESTARTS} restarts behind ${name}`, is: lost.length, ceiling: 0 };
}

class RestartableGateway {
  #config;
  #child;

  constructor(port) {
    this.port = port;
    this.#config = writeConfig({
      http: { port },
      shutdown: { acceptMs: ACCEPT_MS },
      limits: { sessions: 1_000_000, sessionsPerPrincipal: 1_000_000 },
    });
  }

  /** Resolves when the gateway is ready. */
  async start() {
    this.#child = spawn(process.execPath, ['dist/main.js', '--config', this.#config], { stdio: 'ignore' });
    running.add(this.#child);
    await untilReady(`http://127.0.0.1:${this.port}`);
  }

  async stop(signal) {
    this.#child.kill(signal);
    await once(this.#child, 'exit');
    running.delete(this.#child);
  }
}

async function untilReady(url) {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  const isReady = async () => (await exchange(url, { method: 'GET', path: '/health/ready' })).status === 200;
  while (!(await isReady().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error(`${url} was not ready in time`);
    await sleep(50);
  }
}

/** Sends requests at a constant rate, whether earlier ones are answered or not. */
class SteadyLoad {
  sent = 0;
  lost = [];
  #pending = new Set();
  #agent = new Agent({ keepAlive: true });
  #startedAt = performance.now();
  #timer = setInterval(() => this.#send(), 5);

  constructor(url) {
    this.url = url;
  }

  async stop() {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    this.#agent.destroy();
  }

  #send() {
    const due = ((performance.now() - this.#startedAt) / 1000) * REQUESTS_PER_SECOND;
    while (this.sent < due) {
      const probe = REQUESTS[this.sent++ % REQUESTS.length];
      const done = exchange(this.url, probe, this.#agent).then(
        ({ status, text }) => {
          const failure = status === 200 ? probe.failure(text) : `HTTP ${status}`;
          if (failure !== undefined) this.lost.push(failure);
        },
        (error) => this.lost.push(error.code ?? error.message),
      );
      this.#pending.add(done);
      void done.finally(() => this.#pending.delete(done));
    }
  }
}

function exchange(url, { method, path, headers, body }, agent) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { method, headers, agent, timeout: 10_000 }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
      );
      response.once('error', reject);
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('timeout')));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
