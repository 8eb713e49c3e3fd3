import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from './client.mjs';
import { startServer, startWorker } from './processes.mjs';

const READY_TIMEOUT_MS = 15_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** One backend, reached directly and through three gateways, and the process that loads them. */
export async function openStage() {
  const backend = await startServer([here('lean-backend.mjs')]);
  const reference = await startServer([here('reference-gateway.mjs'), backend.url]);
  const lean = await startServer([here('lean-reference-gateway.mjs'), backend.url]);
  const gatehouse = await startServer([here('../dist/main.js'), '--config', gatehouseConfig(backend.url)], {
    GATEHOUSE__HTTP__PORT: '0',
  });
  const targets = {
    direct: { ...backend, prefix: '' },
    reference: { ...reference, prefix: '' },
    'lean reference': { ...lean, prefix: '' },
    gatehouse: { ...gatehouse, prefix: 'bench__' },
  };
  await untilReady(targets.gatehouse);
  return { targets, load: startWorker(here('load.mjs')) };
}

function gatehouseConfig(url) {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'gatehouse.json');
  const config = {
    stateDir: join(directory, 'state'),
    // Lists are compared: they hold what the backend has, and nothing else.
    metaTools: false,
    // Room for every request of the load: what is measured is the way through, not the queue.
    mcpServers: { bench: { url, concurrency: 256 } },
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Gatehouse listens before it knows its servers. */
async function untilReady({ url, prefix }) {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    const client = await Client.open(url, 0);
    try {
      await client.run('tools/list', prefix, () => false);
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.close();
    }
  }
}
