// `npm run interop [-- --only python-1,go --role client --rows TEXT --direct --json FILE --markdown FILE]`: clients and
// servers of the official SDKs through the built gateway. Exits with 1 if a row fails.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { clientColumn, runColumn, serverColumn } from './columns.mjs';
import { SDK_FAULTS } from './sdk-faults.mjs';
import { isInstalled, SDKS } from './sdks.mjs';
import { table } from './table.mjs';

/** Columns that run at once; they wait most of the time. */
const PARALLEL = 3;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    role: { type: 'string' },
    rows: { type: 'string' },
    direct: { type: 'boolean', default: false },
    json: { type: 'string' },
    markdown: { type: 'string' },
  },
});

const counts = { passed: 0, failed: 0, skipped: 0 };
const wanted = options.only?.split(',');
const cells = new Map();
const isWanted = (row) => !options.rows || row.title.includes(options.rows);

function setCell(column, row, cell) {
  cells.set(`${column.id} ${column.role} ${row.title}`, cell);
  if (cell === 'pass') counts.passed += 1;
  else if (cell === 'FAIL') counts.failed += 1;
  else if (cell === 'skip' || cell === 'sdk') counts.skipped += 1;
}

/** Whether the row is known to fail by the fault of the SDK, and does so without the gateway. */
async function isFaultOfSdk(column, row) {
  const fault = SDK_FAULTS[column.id]?.[row.title];
  if (!fault || options.direct) return false;
  const shown = columns.find(({ id }) => id === (fault.column ?? column.id)) ?? column;
  const rows = shown.rows.filter(({ title }) => title === (fault.row ?? row.title));
  const [direct] = await runColumn(shown, rows, { isDirect: true, report: () => undefined });
  return direct.error !== undefined;
}

async function settle(column, { row, ms, error }) {
  const isFault = error !== undefined && (await isFaultOfSdk(column, row));
  const cell = error === undefined ? 'pass' : isFault ? 'sdk' : 'FAIL';
  setCell(column, row, cell);
  console.log(`${cell.padEnd(5)}${column.role} ${column.id}: ${row.title} (${ms} ms)`);
  if (isFault) console.log(`      ${SDK_FAULTS[column.id][row.title].why}`);
  if (cell === 'FAIL') console.log(`      ${error.message.replaceAll('\n', '\n      ')}`);
}

async function run(column) {
  const rows = column.rows.filter((row) => column.applies(row) && isWanted(row));
  const runnable = options.direct ? rows.filter((row) => !row.gateway) : rows;
  const open = new Set(runnable);
  const report = (result) => {
    open.delete(result.row);
    return settle(column, result);
  };
  try {
    await runColumn(column, runnable, { isDirect: options.direct, report });
  } catch (error) {
    for (const row of open) await settle(column, { row, ms: 0, error });
  }
}

/** Installs the programs of the SDK; false where its toolchain is missing. */
async function isReady(sdk) {
  if (!(await isInstalled(sdk))) {
    console.log(`${sdk.title}: skipped, ${sdk.toolchain[0]} is not installed`);
    return false;
  }
  const started = Date.now();
  await sdk.install();
  console.log(`${sdk.title}: installed (${Date.now() - started} ms)`);
  return true;
}

const sdks = SDKS.filter(({ id }) => !wanted || wanted.includes(id));
const readiness = await Promise.all(sdks.map(isReady));
const columns = [];
for (const [index, sdk] of sdks.entries()) {
  const own = [clientColumn(sdk), ...sdk.modes.map((mode) => serverColumn(sdk, mode))];
  const ready = readiness[index];
  for (const column of own.filter(({ role }) => !options.role || role === options.role)) {
    if (options.direct && column.id.endsWith('/stdio')) continue;
    columns.push({ ...column, ready });
  }
}

for (const column of columns.filter(({ ready }) => !ready))
  for (const row of column.rows.filter(column.applies)) setCell(column, row, 'skip');

const queue = columns.filter(({ ready }) => ready);
const worker = async () => {
  for (let column = queue.shift(); column; column = queue.shift()) await run(column);
};
await Promise.all(Array.from({ length: PARALLEL }, worker));

const text = table(columns, cells);
console.log(`\n${text}`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
if (options.markdown) await writeFile(options.markdown, text);
if (options.json) await writeFile(options.json, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
