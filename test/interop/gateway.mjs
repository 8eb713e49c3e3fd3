import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ServerProgram } from './programs.mjs';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const READY_MS = 60_000;

/** The kernel gives connections ports from 32,768 on: a port below stays free until the program listens on it. */
const PORTS = { first: 16_384, count: 16_384 };

/** A port that is free now; a restarted program needs the port it had before. */
export async function freePort() {
  const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
  const server = createServer();
  const isFree = await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return isFree ? port : freePort();
}

/** The built gateway as a process, with one server whose names and URIs it keeps. */
export class Gateway {
  static async start(mcpServer, settings = {}) {
    const gateway = new Gateway();
    gateway.directory = await mkdtemp(join(tmpdir(), 'gatehouse-interop-'));
    const config = {
      http: { port: await freePort() },
      stateDir: join(gateway.directory, 'state'),
      metaTools: false,
      naming: { tools: 'never', resources: 'original' },
      shutdown: { acceptMs: 200 },
      mcpServers: { interop: mcpServer },
      ...settings,
    };
    gateway.file = join(gateway.directory, 'gatehouse.json');
    await writeFile(gateway.file, JSON.stringify(config));
    await gateway.launch().catch(async (error) => {
      await gateway.stop();
      throw error;
    });
    return gateway;
  }

  async launch() {
    this.program = await ServerProgram.start({
      command: process.execPath,
      args: [MAIN, '--config', this.file],
    });
    this.url = this.program.url;
    await this.firstSync();
  }

  async firstSync() {
    const deadline = Date.now() + READY_MS;
    while (Date.now() < deadline) {
      const { ok } = await fetch(new URL('/health/startup', this.url));
      if (ok) return;
      await sleep(25);
    }
    throw new Error(`the first sync has not ended: ${this.program.errors}`);
  }

  async restart(signal) {
    await this.program.stop(signal);
    await this.launch();
  }

  /** The ids of the open sessions, as the admin API names them. */
  async sessions() {
    const token = await readFile(join(this.directory, 'state', 'admin-token'), 'utf8');
    const headers = { authorization: `Bearer ${token.trim()}` };
    const response = await fetch(new URL('/admin/v1/sessions', this.url), { headers });
    return (await response.json()).sessions.map(({ id }) => id);
  }

  async stop() {
    await this.program?.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
