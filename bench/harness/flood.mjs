// A client that floods a server over many sessions, in a process of its own: starts and stops over IPC.
import { Caller } from './caller.mjs';

/** A client that waits for `data.retryAfterMs` would not flood; this one waits just long enough to leave its own CPU time. */
const PAUSE_MS = 20;

let stopping = new AbortController();
let callers = [];
let running = [];
let counts = { succeeded: 0, refused: 0 };

process.on('message', (job) => {
  (job.stop ? stop() : start(job)).then(
    (reply) => process.send(reply),
    (error) => process.send({ error: error.message }),
  );
});
process.on('disconnect', () => process.exit());

async function start({ url, headers, tool, start: { sessions, calls } }) {
  counts = { succeeded: 0, refused: 0 };
  stopping = new AbortController();
  const first = await Promise.all(Array.from({ length: sessions }, () => Caller.open(url, headers)));
  callers = (
    await Promise.all(first.map(async (caller) => [caller, ...(await caller.more(url, calls - 1))]))
  ).flat();
  running = callers.map((caller) => flood(caller, tool));
  return {};
}

async function stop() {
  stopping.abort();
  await Promise.all(running);
  for (const caller of callers) caller.close();
  return counts;
}

async function flood(caller, tool) {
  while (!stopping.signal.aborted) {
    try {
      await caller.request('tools/call', { name: tool, arguments: { message: 'x' } });
      counts.succeeded++;
    } catch {
      counts.refused++;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
