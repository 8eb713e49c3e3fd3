// `npm run bench [-- calls lists resources search templates fanout]`: exits with 0 when every floor holds, 1 when one does not, 2 on wrong usage.
import { busyShare } from './cpu-time.mjs';
import { openStage } from './stage.mjs';
import { calls } from './suites/calls.mjs';
import { fanout } from './suites/fanout.mjs';
import { lists } from './suites/lists.mjs';
import { resources } from './suites/resources.mjs';
import { search } from './suites/search.mjs';
import { templates } from './suites/templates.mjs';

const SUITES = { calls, lists, resources, search, templates, fanout };
const LONGEST_MS = 1_200_000;
const BUSY = 0.2;

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SUITES);
const unknown = chosen.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  console.error(`bench: no suite ${unknown.join(', ')}; there are ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}

setTimeout(() => {
  console.error('bench: took too long');
  process.exit(1);
}, LONGEST_MS).unref();

try {
  const busy = await busyShare();
  if (busy > BUSY)
    console.log(`${Math.round(busy * 100)} % of this machine is busy already: ratios will be too low\n`);
  let opened;
  const stage = () => (opened ??= openStage());
  let failed = false;
  for (const name of chosen) {
    for (const { what, is, floor = -Infinity, ceiling = Infinity } of await SUITES[name](stage)) {
      const holds = is >= floor && is <= ceiling;
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
