import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Caller } from './caller.mjs';
import { startServer } from './processes.mjs';
import { PAGE, serverName, SERVERS } from './resources.mjs';

const ADMIN_TOKEN = 'admin-token-of-the-bench';
const POLL_MS = 20;
const SYNC_TIMEOUT_MS = 300_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const directories = new Set();
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A gateway with a gauge in it, before servers that list so many resources between them. */
export class ResourceStage {
  /** `overlap` says whether servers have the same, and how. */
  static async open(count, { naming, servers = SERVERS, page = PAGE, overlap = 'none' } = {}) {
    const given = [count, servers, page, overlap].map(String);
    const backend = await startServer([here('resource-backend.mjs'), ...given]);
    const startedAt = performance.now();
    const gateway = await startServer(
      [
        '--expose-gc',
        `--import=${new URL('gauge.mjs', import.meta.url).href}`,
        here('../dist/main.js'),
        '--config',
        configOf(backend.url, { naming, servers, overlap }),
      ],
      { GATEHOUSE__HTTP__PORT: '0' },
    );
    return new ResourceStage(count, backend, gateway, startedAt);
  }

  constructor(count, backend, gateway, startedAt) {
    this.count = count;
    this.backend = backend;
    this.gateway = gateway;
    this.startedAt = startedAt;
  }

  /** Resolves when everything is listed, with the milliseconds since the start. */
  async synced() {
    await this.until(async () => (await this.total()) === this.count);
    return performance.now() - this.startedAt;
  }

  /** How many resources the gateway lists. */
  async total() {
    const url = new URL('/admin/v1/resources?limit=1', this.gateway.url);
    const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    return (await response.json()).total;
  }

  stall() {
    return this.gateway.ask('stall');
  }

  /** What it holds on the heap and beside it, after everything that nobody needs is gone. */
  memory() {
    return this.gateway.ask('memory');
  }

  async addResource(server) {
    await fetch(`${this.backend.url}/${server}/add`, { method: 'POST' });
  }

  openCaller() {
    return Caller.open(this.gateway.url);
  }

  async until(condition) {
    const giveUpAt = performance.now() + SYNC_TIMEOUT_MS;
    while (!(await condition())) {
      if (performance.now() > giveUpAt) throw new Error('the gateway took too long');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async close() {
    await this.gateway.stop();
    await this.backend.stop();
  }
}

function configOf(url, { naming, servers: many, overlap }) {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  directories.add(directory);
  const path = join(directory, 'gatehouse.json');
  const servers = Array.from({ length: many }, (_, number) => [
    serverName(overlap, number),
    { url: `${url}/${number}` },
  ]);
  const config = {
    stateDir: join(directory, 'state'),
    admin: { token: ADMIN_TOKEN },
    naming,
    mcpServers: Object.fromEntries(servers),
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}
