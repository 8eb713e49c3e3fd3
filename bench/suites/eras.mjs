import { fileURLToPath } from 'node:url';
import { compare, warmUp } from '../harness/comparison.mjs';
import { startServer, startWorker } from '../harness/processes.mjs';
import { startGatehouse, untilListed } from '../harness/targets.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** What a call of a modern client may cost in units of a call of 2025. The rest is for the noise of the measurement. */
const MOST = 1.05;
const CONNECTIONS = 32;

/** Clients of both eras in front of servers of both eras, all through one gateway. */
export async function eras() {
  const legacy = await startServer([here('../servers/lean-backend.mjs')]);
  const modern = await startServer([here('../servers/lean-modern-backend.mjs')]);
  const gateway = await startGatehouse({
    backend: legacy,
    servers: { modern: { url: modern.url, concurrency: 256, era: '2026' } },
  });
  await untilListed(gateway, 'modern__echo');
  const targets = {};
  for (const client of ['2025', '2026'])
    for (const [server, toolPrefix] of [
      ['2025', 'bench__'],
      ['2026', 'modern__'],
    ])
      targets[`client ${client}, server ${server}`] = { ...gateway, era: client, toolPrefix };
  const harness = { targets, load: startWorker(here('../harness/load.mjs')) };

  await warmUp(harness, 'tools/call', { requests: 20_000, maxMs: 6000 });
  const { cost, ratio } = await compare(harness, 'tools/call', CONNECTIONS);
  await Promise.all([gateway.stop(), legacy.stop(), modern.stop()]);
  const bounds = (name, to) => [
    { what: `CPU of a call, ${name} : ${to}`, is: cost(name, to), ceiling: MOST },
    { what: `calls per second, ${name} : ${to}`, is: ratio(name, to), floor: 1 / MOST },
  ];
  return [
    ...bounds('client 2026, server 2025', 'client 2025, server 2025'),
    ...bounds('client 2026, server 2026', 'client 2025, server 2026'),
    ...bounds('client 2026, server 2026', 'client 2025, server 2025'),
  ];
}
