import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limitsFor } from '../harness/client-limits.mjs';
import { writeConfig } from '../harness/config-file.mjs';
import { startServer, startWorker } from '../harness/processes.mjs';
import { untilListed } from './fanout.mjs';

const CLIENTS = 10_000;
const ROUNDS = 5;
const TOKEN = 'admin-token-of-the-benchmark';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Disables and enables a server with 10,000 sessions, each with an open stream and a subscription to the server. */
export async function broadcast() {
  const backend = await startServer([here('../servers/fanout-backend.mjs')]);
  const config = writeConfig({
    limits: limitsFor(CLIENTS),
    admin: { token: TOKEN },
    mcpServers: { bench: { url: backend.url } },
  });
  const gateway = await startServer(
    ['--import', here('../harness/stall-gauge.mjs'), here('../../dist/main.js'), '--config', config],
    { GATEHOUSE__HTTP__PORT: '0' },
  );
  const clients = startWorker(here('../harness/fanout-clients.mjs'));
  await untilListed(gateway.url);
  await clients({ job: 'open', url: gateway.url, uri: 'bench://wide', count: CLIENTS });
  const stalls = { disable: [], enable: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const action of Object.keys(stalls)) stalls[action].push(await change(gateway, clients, action));
  const removal = await removeServer(gateway);
  await Promise.all([backend.stop(), gateway.stop()]);
  const rows = {
    disabled: Math.max(...stalls.disable),
    enabled: Math.max(...stalls.enable),
    removed: removal,
  };
  return Object.entries(rows).map(([action, is]) => ({
    what: `ms of the longest stall when a server is ${action}, 10,000 sessions`,
    is,
    ceiling: 50,
  }));
}

/** Resolves with the longest stall until every client has its update. */
async function change(gateway, clients, action) {
  await sleep(500);
  const arrived = clients({ job: 'expect', count: CLIENTS });
  await gateway.ask('stall');
  await administer(gateway, 'POST', `servers/bench/${action}`);
  await arrived;
  await sleep(100);
  return (await gateway.ask('stall')).own;
}

/** Ends the subscriptions of all clients. */
async function removeServer(gateway) {
  await sleep(500);
  await gateway.ask('stall');
  await administer(gateway, 'DELETE', 'servers/bench');
  await untilUnsubscribed(gateway);
  return (await gateway.ask('stall')).own;
}

async function untilUnsubscribed({ url }) {
  const giveUpAt = Date.now() + 15_000;
  for (;;) {
    await sleep(1000);
    const metrics = await (await fetch(new URL('/metrics', url))).text();
    if (/^mcp_active_subscriptions 0$/m.test(metrics)) return;
    if (Date.now() > giveUpAt) throw new Error('the subscriptions did not end in time');
  }
}

async function administer({ url }, method, path) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(new URL(`/admin/v1/${path}`, url), { method, headers });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
}
