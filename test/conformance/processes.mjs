import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const START_MS = 30_000;
const STOP_MS = 10_000;

const fileAt = (path) => fileURLToPath(new URL(path, import.meta.url));
const MAIN = fileAt('../../dist/main.js');
/** The fixture by era and transport. */
const FIXTURES = {
  2025: { http: fileAt('fixture/http.mjs'), stdio: fileAt('fixture/stdio.mjs') },
  2026: { http: fileAt('fixture/modern-http.mjs'), stdio: fileAt('fixture/modern-stdio.mjs') },
};

const running = new Set();

// The suite ends a client that takes too long with SIGTERM; its gateway must not outlive it.
for (const signal of ['SIGTERM', 'SIGINT'])
  process.once(signal, () => {
    for (const child of running) child.kill('SIGKILL');
    process.exit(1);
  });

/** A program that prints its URL as the last word of its first line, and ends at SIGTERM. */
class ServerProcess {
  static async start(args, env = {}) {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, args, {
      env: { PATH, HOME, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const started = new ServerProcess(child);
    started.url = await started.firstLine().then((line) => line.split(' ').at(-1));
    return started;
  }

  output = '';

  constructor(child) {
    this.child = child;
    running.add(child);
    this.exited = once(child, 'exit').finally(() => running.delete(child));
    child.stderr.setEncoding('utf8').on('data', (text) => (this.output += text));
  }

  async firstLine() {
    const timeout = AbortSignal.timeout(START_MS);
    const line = once(createInterface({ input: this.child.stdout }), 'line', { signal: timeout });
    const exit = this.exited.then(() => Promise.reject(new Error(`did not start: ${this.output}`)));
    const [text] = await Promise.race([line, exit]).catch((error) => {
      this.child.kill('SIGKILL');
      throw error;
    });
    exit.catch(() => undefined);
    return text;
  }

  async stop() {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
    this.child.kill('SIGTERM');
    await this.exited;
    clearTimeout(timer);
  }
}

export const startFixture = (era) => ServerProcess.start([FIXTURES[era].http]);

/** How the gateway starts the fixture over stdio. */
export const stdioFixture = (era) => ({ command: process.execPath, args: [FIXTURES[era].stdio] });

/** Waits until the gateway has listed its servers. */
async function firstSync(url) {
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const { ok } = await fetch(new URL('/health/startup', url));
    if (ok) return;
    await sleep(50);
  }
  throw new Error(`the first sync has not ended after ${START_MS} ms`);
}

/** The built gateway with one server, whose names and URIs it does not change: the suite prescribes them. */
export async function startGateway(server) {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-conformance-'));
  const config = {
    http: { port: 0 },
    stateDir: join(directory, 'state'),
    metaTools: false,
    naming: { tools: 'never', resources: 'original' },
    mcpServers: { fixture: server },
  };
  const file = join(directory, 'gatehouse.json');
  await writeFile(file, JSON.stringify(config));
  let gateway;
  const stop = async () => {
    await gateway?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    gateway = await ServerProcess.start([MAIN, '--config', file]);
    await firstSync(gateway.url);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: gateway.url, output: () => gateway.output, stop };
}
