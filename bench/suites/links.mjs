import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Caller } from '../harness/caller.mjs';
import { compare, floors, warmUp } from '../harness/comparison.mjs';
import { startServer } from '../harness/processes.mjs';
import { startGatehouse, untilListed } from '../harness/targets.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
/** Calls left open at the hanging server, more than its concurrency limit. */
const HANGING_CALLS = 32;

/** Other ways to use a server: over stdio, for large results, from a new connection, and beside a server that hangs. */
export async function links(openTargets) {
  const { backend, targets, load } = await openTargets();
  const stdio = { command: process.execPath, args: [here('../servers/stdio-backend.mjs')], concurrency: 256 };
  const hanging = await startServer([here('../servers/lean-backend.mjs'), '200', 'hang']);
  const servers = { stdio, hanging: { url: hanging.url } };
  const quiet = await startGatehouse({ backend, servers });
  const besideHanging = await startGatehouse({ backend, servers });
  await Promise.all([untilListed(quiet, 'stdio__echo'), untilListed(besideHanging, 'hanging__echo')]);
  const harness = {
    load,
    targets: { ...targets, gatehouse: quiet, 'beside a hanging server': besideHanging },
  };

  await warmUp(harness, 'tools/call over stdio', { requests: 10_000, maxMs: 4000, only: ['gatehouse'] });
  await compare(harness, 'tools/call over stdio', 32, { only: ['gatehouse'] });
  const large = await compare(harness, 'resources/read of 1 MB', 4, {
    only: ['direct', 'nginx', 'gatehouse'],
  });
  const connect = await compare(harness, 'connect', 4, { only: ['direct', 'nginx', 'gatehouse'] });
  await hang(besideHanging);
  const neighbours = ['gatehouse', 'beside a hanging server'];
  // The first gateway has served the other rows. Without as many calls, the code of the second is less optimised.
  await warmUp(harness, 'tools/call', { requests: 60_000, maxMs: 9000, only: neighbours });
  const neighbour = await compare(harness, 'tools/call', 32, { only: neighbours });
  return floors(
    { what: `${large.title} : direct`, is: large.ratio('gatehouse', 'direct'), floor: 0.3 },
    { what: `${connect.title} : direct`, is: connect.ratio('gatehouse', 'direct'), floor: 0.15 },
    {
      what: 'tools/call beside a server that hangs : without it',
      is: neighbour.ratio('beside a hanging server', 'gatehouse'),
      floor: 0.9,
    },
  );
}

/** Leaves calls open that the server never answers. Resolves when the server has them. */
async function hang({ url }) {
  const callers = await Promise.all(Array.from({ length: HANGING_CALLS }, () => Caller.open(url)));
  for (const caller of callers)
    caller
      .request('tools/call', { name: 'hanging__echo', arguments: { message: 'never answered' } })
      .catch(() => {});
  const isInFlight = new RegExp(`^mcp_backend_in_flight\\{server_id="hanging"\\} ${HANGING_CALLS}$`, 'm');
  const giveUpAt = performance.now() + 15_000;
  while (!isInFlight.test(await (await fetch(new URL('/metrics', url))).text())) {
    if (performance.now() > giveUpAt) throw new Error('the hanging server did not get the calls in time');
    await sleep(50);
  }
}
