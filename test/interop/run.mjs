// `npm run interop [-- --only python-1,go --required --role client --rows TEXT --direct --json FILE --markdown FILE]`: clients
// and servers of the official SDKs through the built gateway. Exits with 1 if a row fails.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { columnsOf, runColumn } from './columns.mjs';
import { SDK_FAULTS, SDK_GAPS } from './sdk-faults.mjs';
import { isInstalled, SDKS } from './sdks.mjs';
import { checkFaults, select, Suite } from './suite.mjs';
import { table } from './table.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    required: { type: 'boolean', default: false },
    role: { type: 'string' },
    rows: { type: 'string' },
    direct: { type: 'boolean', default: false },
    json: { type: 'string' },
    markdown: { type: 'string' },
  },
});

for (const cells of [SDK_FAULTS, SDK_GAPS]) checkFaults(cells, SDKS.flatMap(columnsOf));

const suite = new Suite(options, {
  isInstalled,
  columnsOf,
  runColumn,
  faults: SDK_FAULTS,
  log: (line) => console.log(line),
});
await suite.run(select(SDKS, options.only?.split(',')));

const { counts } = suite;
const text = table(suite.columns, suite.cells);
console.log(`\n${text}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
if (options.markdown) await writeFile(options.markdown, text);
if (options.json) await writeFile(options.json, JSON.stringify(counts));
process.exitCode = suite.hasSucceeded ? 0 : 1;
