import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Caller } from '../harness/caller.mjs';
import { writeConfig } from '../harness/config-file.mjs';
import { startServer, startWorker } from '../harness/processes.mjs';
import { median } from '../harness/statistics.mjs';
import { untilListed } from '../harness/targets.mjs';

/** Time that the server takes for a call. */
const CALL_MS = 50;
/** Calls that each session of the flooding key keeps in flight. */
const CALLS_PER_SESSION = 10;
const SESSIONS = [1, 10, 100];
const ROUND_MS = 3000;
const ROUNDS = 3;
const KEYS = ['flood', 'modest'];

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** One key with one session calls a server beside a key that floods it over many sessions. */
export async function fairness() {
  const backend = await startServer([here('../servers/lean-backend.mjs'), '1', String(CALL_MS)]);
  const apiKeys = KEYS.map((id) => ({ id, hash: `sha256:${hash('sha256', id)}`, projects: ['*'] }));
  const config = writeConfig({ auth: { apiKeys }, mcpServers: { bench: { url: backend.url } } });
  const gateway = await startServer([here('../../dist/main.js'), '--config', config], {
    GATEHOUSE__HTTP__PORT: '0',
  });
  await untilListed(gateway, 'bench__echo', authorization('modest'));
  const flood = startWorker(here('../harness/flood.mjs'));
  const modest = await Caller.open(gateway.url, authorization('modest'));
  const rows = [];
  for (const sessions of SESSIONS) {
    const ratios = [];
    const flooded = [];
    for (let round = 0; round < ROUNDS; round++) {
      const alone = await successes(modest);
      const job = { url: gateway.url, headers: authorization('flood'), tool: 'bench__echo' };
      await flood({ ...job, start: { sessions, calls: CALLS_PER_SESSION } });
      const beside = await successes(modest);
      const { succeeded, refused } = await flood({ stop: true });
      ratios.push(beside / alone);
      flooded.push(succeeded + refused);
      console.log(
        `${sessions} flooding sessions: ${alone} calls alone, ${beside} beside ${succeeded} of the other key, ` +
          `which was refused ${refused} times`,
      );
      await sleep(100);
    }
    rows.push({
      what: `calls of a key beside one that floods over ${sessions} sessions : alone`,
      is: median(ratios),
      floor: 0.9,
    });
    rows.push({
      what: `calls that flooded over ${sessions} sessions, at least`,
      is: Math.min(...flooded),
      floor: sessions * CALLS_PER_SESSION,
    });
  }
  modest.close();
  await Promise.all([gateway.stop(), backend.stop()]);
  return rows;
}

const authorization = (key) => ({ authorization: `Bearer ${key}` });

async function successes(caller, ms = ROUND_MS) {
  const end = performance.now() + ms;
  let count = 0;
  while (performance.now() < end) {
    const params = { name: 'bench__echo', arguments: { message: 'x' } };
    await caller.request('tools/call', params).then(
      () => count++,
      () => {},
    );
  }
  return count;
}
