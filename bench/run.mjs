// `npm run bench [-- SUITE ... [--baseline DIR]]`: exits with 0 when every bound holds, 1 when one does not, 2 on wrong usage.
// `--baseline` measures the built gateway of another checkout beside this one.
import { parseArgs } from 'node:util';
import { busyShare } from './harness/cpu-time.mjs';
import { openTargets } from './harness/targets.mjs';
import { admin } from './suites/admin.mjs';
import { broadcast } from './suites/broadcast.mjs';
import { calls } from './suites/calls.mjs';
import { catalog } from './suites/catalog.mjs';
import { eras } from './suites/eras.mjs';
import { fairness } from './suites/fairness.mjs';
import { fanout } from './suites/fanout.mjs';
import { hostile } from './suites/hostile.mjs';
import { leaks } from './suites/leaks.mjs';
import { links } from './suites/links.mjs';
import { lists } from './suites/lists.mjs';
import { memory } from './suites/memory.mjs';
import { messages } from './suites/messages.mjs';
import { resources } from './suites/resources.mjs';
import { restarts } from './suites/restarts.mjs';
import { search } from './suites/search.mjs';
import { startup } from './suites/startup.mjs';
import { templates } from './suites/templates.mjs';

const SUITES = {
  calls,
  eras,
  catalog,
  lists,
  leaks,
  links,
  resources,
  search,
  templates,
  fanout,
  broadcast,
  fairness,
  hostile,
  memory,
  messages,
  restarts,
  startup,
  admin,
};
const TIMEOUT_MS = 1_800_000;
const BUSY = 0.2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { baseline: { type: 'string' } },
});
const chosen = positionals.length > 0 ? positionals : Object.keys(SUITES);
const unknown = chosen.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  console.error(`bench: no suite ${unknown.join(', ')}; the suites are ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}

setTimeout(() => {
  console.error('bench: timed out');
  process.exit(1);
}, TIMEOUT_MS).unref();

try {
  const busy = await busyShare();
  if (busy > BUSY)
    console.log(`Other processes use ${Math.round(busy * 100)} % of this machine: ratios will be too low\n`);
  let opened;
  const openOnce = () => (opened ??= openTargets(values));
  let failed = false;
  for (const name of chosen) {
    for (const { what, is, floor = -Infinity, ceiling = Infinity } of await SUITES[name](openOnce)) {
      // Without a figure, such as the longest of no stalls, the bound does not hold.
      const holds = Number.isFinite(is) && is >= floor && is <= ceiling;
      failed ||= !holds;
      const bound = ceiling === Infinity ? `floor ${floor}` : `ceiling ${ceiling}`;
      console.log(`${holds ? 'holds' : 'BROKEN'}: ${what} is ${is.toFixed(2)}, ${bound}`);
    }
    console.log();
  }
  process.exit(failed ? 1 : 0);
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exit(1);
}
