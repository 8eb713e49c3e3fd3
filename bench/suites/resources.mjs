import { ResourceGateway } from '../harness/resource-gateway.mjs';
import { bytesOfTexts, FILTERED, QUERIES, SERVERS } from '../harness/resources.mjs';
import { median, percentile } from '../harness/statistics.mjs';
import { namingStyles } from './resource-naming.mjs';

const SIZES = [10_000, 100_000, 1_000_000];
const RUNS = 7;

/** Resources of twenty servers: time to list them, memory, list pages and searches. */
export async function resources() {
  const empty = await memoryWithoutResources();
  const rows = [];
  for (const count of SIZES) rows.push(await measure(count, empty));
  print(rows);
  const [, medium, large] = rows;
  return [
    ...(await namingStyles()),
    {
      what: 'longest stall (ms) of sync, index and lists at 1,000,000',
      is: longest(large, 'search'),
      ceiling: 50,
    },
    { what: 'longest stall (ms) of a search over 1,000,000', is: large.stalls.search.own, ceiling: 50 },
    { what: 'heap per resource (bytes) at 1,000,000', is: large.heapEach, ceiling: 1024 },
    { what: 'slowest search (ms of CPU time) over 100,000', is: medium.slowestSearch, ceiling: 20 },
  ];
}

/** Memory of a gateway whose servers list no resources. */
async function memoryWithoutResources() {
  const gateway = await ResourceGateway.open(0);
  await gateway.until(async () => (await fetch(new URL('/health/startup', gateway.process.url))).ok);
  const bytes = bytesOf(await gateway.memory());
  await gateway.close();
  return bytes;
}

async function measure(count, empty) {
  const gateway = await ResourceGateway.open(count);
  const row = { count, stalls: {} };
  const note = async (phase) => {
    row.stalls[phase] = await gateway.stall();
  };
  // The start does not count: no client is connected yet.
  await gateway.stall();
  row.sync = await gateway.synced();
  await note('sync');
  const caller = await gateway.openCaller();
  row.firstPage = (await caller.request('resources/list')).ms;
  row.firstSearch = (await caller.request('tools/call', searchFor('forecast'))).ms;
  await note('index');
  row.heapEach = (bytesOf(await gateway.memory()) - empty - bytesOfTexts(count)) / count;
  await gateway.stall();
  row.cachedPage = median(await times(RUNS, () => caller.request('resources/list')));
  row.pages = await readAllPages(caller, count);
  await note('list');
  row.searches = [];
  for (const search of SEARCHES) row.searches.push(await searched(gateway, caller, search));
  row.slowestSearch = Math.max(...row.searches.map(({ cpu }) => cpu));
  await note('search');
  row.oneAdded = await oneAdded(gateway, caller);
  await note('sync again');
  caller.close();
  await gateway.close();
  return row;
}

const longest = ({ stalls }, except) =>
  Math.max(...Object.entries(stalls).flatMap(([phase, { own }]) => (phase === except ? [] : [own])));

const bytesOf = ({ heapUsed, external }) => heapUsed + external;

const searchFor = (query) => ({ name: 'search_resources', arguments: { query } });

/** Queries without and with a MIME type. */
const SEARCHES = [...QUERIES.map((query) => ({ query })), ...FILTERED];
const titleOf = ({ query, mimeType }) => (mimeType ? `${query} (${mimeType})` : query);

async function times(runs, request) {
  const all = [];
  for (let run = 0; run < runs; run++) all.push((await request()).ms);
  return all;
}

/** Latency of a search and the CPU time of the gateway for it. */
async function searched(gateway, caller, search) {
  const call = { name: 'search_resources', arguments: search };
  const before = await gateway.process.ask('cpu');
  const wall = median(await times(RUNS, () => caller.request('tools/call', call)));
  const after = await gateway.process.ask('cpu');
  return { wall, cpu: (after.ms - before.ms) / RUNS };
}

/** Reads every page, one after the other. */
async function readAllPages(caller, count) {
  const all = [];
  let found = 0;
  let cursor;
  do {
    const { result, ms } = await caller.request('resources/list', cursor === undefined ? {} : { cursor });
    all.push(ms);
    found += result.resources.length;
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  if (found !== count) throw new Error(`${found} of ${count} resources are listed`);
  const total = all.reduce((sum, ms) => sum + ms, 0);
  return { total, p50: median(all), p99: percentile(all, 0.99) };
}

/** Time until a resource that one server adds is listed and found. */
async function oneAdded(gateway, caller) {
  const beganAt = performance.now();
  await gateway.addResource(7);
  await gateway.until(async () => (await gateway.total()) === gateway.count + 1);
  await caller.request('tools/call', searchFor('forecast'));
  return performance.now() - beganAt;
}

const whole = (value) => value.toFixed(0);
const fine = (value) => value.toFixed(1);

const LINES = [
  ['all listed after the start, ms', ({ sync }) => whole(sync)],
  ['first search answered after that, ms', ({ firstSearch }) => whole(firstSearch)],
  ['heap per resource beyond its text, bytes', ({ heapEach }) => whole(heapEach)],
  ['first page, built, ms', ({ firstPage }) => fine(firstPage)],
  ['first page, from memory, ms', ({ cachedPage }) => fine(cachedPage)],
  ['all pages, ms', ({ pages }) => whole(pages.total)],
  ['one of them, p50 / p99, ms', ({ pages }) => `${fine(pages.p50)} / ${fine(pages.p99)}`],
  ...SEARCHES.map((search, index) => [
    `search: ${titleOf(search)}`,
    ({ searches }) => `${fine(searches[index].cpu)} (${fine(searches[index].wall)})`,
  ]),
  ['one resource more: listed and found, ms', ({ oneAdded: ms }) => whole(ms)],
  ...['sync', 'index', 'list', 'search', 'sync again'].map((phase) => [
    `longest stall: ${phase}`,
    ({ stalls }) => `${whole(stalls[phase].own)} (${whole(stalls[phase].wall)})`,
  ]),
];

const line = (first, cells) =>
  console.log(`| ${first.padEnd(60)} | ${cells.map((cell) => cell.padStart(13)).join(' | ')} |`);

function print(rows) {
  console.log('Where there are two figures: ms of CPU time (ms elapsed).\n');
  line(
    `resources of ${SERVERS} servers`,
    rows.map(({ count }) => count.toLocaleString('en')),
  );
  line(
    '-'.repeat(60),
    rows.map(() => `${'-'.repeat(12)}:`),
  );
  for (const [title, cell] of LINES) line(title, rows.map(cell));
  console.log();
}
