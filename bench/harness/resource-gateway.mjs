import { fileURLToPath } from 'node:url';
import { Caller } from './caller.mjs';
import { writeConfig } from './config-file.mjs';
import { startServer } from './processes.mjs';
import { PAGE, serverName, SERVERS } from './resources.mjs';

const ADMIN_TOKEN = 'admin-token-of-the-bench';
const POLL_MS = 20;
const SYNC_TIMEOUT_MS = 300_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** A gateway with the stall gauge, in front of servers that list `count` resources in total. */
export class ResourceGateway {
  /** `overlap` is the kind of name conflict between the servers: none, same or alike. */
  static async open(count, { naming, servers = SERVERS, page = PAGE, overlap = 'none' } = {}) {
    const given = [count, servers, page, overlap].map(String);
    const backend = await startServer([here('../servers/resource-backend.mjs'), ...given]);
    const startedAt = performance.now();
    const gateway = await startServer(
      [
        '--expose-gc',
        `--import=${new URL('stall-gauge.mjs', import.meta.url).href}`,
        here('../../dist/main.js'),
        '--config',
        configOf(backend.url, { naming, servers, overlap }),
      ],
      { GATEHOUSE__HTTP__PORT: '0' },
    );
    return new ResourceGateway(count, backend, gateway, startedAt);
  }

  constructor(count, backend, process_, startedAt) {
    this.count = count;
    this.backend = backend;
    this.process = process_;
    this.startedAt = startedAt;
  }

  /** Resolves with the milliseconds since the start when every resource is listed. */
  async synced() {
    await this.until(async () => (await this.total()) === this.count);
    return performance.now() - this.startedAt;
  }

  /** Number of resources that the gateway lists. */
  async total() {
    const url = new URL('/admin/v1/resources?limit=1', this.process.url);
    const response = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    return (await response.json()).total;
  }

  stall() {
    return this.process.ask('stall');
  }

  /** Memory on and off the heap after a garbage collection. */
  memory() {
    return this.process.ask('memory');
  }

  async addResource(server) {
    await fetch(`${this.backend.url}/${server}/add`, { method: 'POST' });
  }

  openCaller() {
    return Caller.open(this.process.url);
  }

  async until(condition) {
    const giveUpAt = performance.now() + SYNC_TIMEOUT_MS;
    while (!(await condition())) {
      if (performance.now() > giveUpAt) throw new Error('the gateway timed out');
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async close() {
    await this.process.stop();
    await this.backend.stop();
  }
}

function configOf(url, { naming, servers: count, overlap }) {
  const servers = Array.from({ length: count }, (_, number) => [
    serverName(overlap, number),
    { url: `${url}/${number}` },
  ]);
  return writeConfig({ admin: { token: ADMIN_TOKEN }, naming, mcpServers: Object.fromEntries(servers) });
}
