import { ResourceStage } from '../resource-stage.mjs';
import { onOnePage, otherStyles } from './resource-styles.mjs';
import { bytesOfTexts, FILTERED, QUERIES, SERVERS } from '../resources.mjs';

const SIZES = [10_000, 100_000, 1_000_000];
const TURNS = 7;

/** Resources of twenty servers: how long they take to be there, what they take up, and how soon they are found. */
export async function resources() {
  const empty = await heldWithout();
  const rows = [];
  for (const count of SIZES) rows.push(await measure(count, empty));
  print(rows);
  const [, medium, large] = rows;
  return [
    ...(await otherStyles()),
    ...(await onOnePage()),
    {
      what: 'longest stall (ms) of sync, index and lists at 1,000,000',
      is: longest(large, 'search'),
      ceiling: 50,
    },
    { what: 'longest stall (ms) of a search over 1,000,000', is: large.stalls.search.own, ceiling: 50 },
    { what: 'heap per resource (bytes) at 1,000,000', is: large.heapEach, ceiling: 1024 },
    { what: 'slowest search (ms of the processor) over 100,000', is: medium.slowestSearch, ceiling: 20 },
  ];
}

/** What the gateway holds when its servers have nothing. */
async function heldWithout() {
  const stage = await ResourceStage.open(0);
  await stage.until(async () => (await fetch(new URL('/health/startup', stage.gateway.url))).ok);
  const held = heldOf(await stage.memory());
  await stage.close();
  return held;
}

async function measure(count, empty) {
  const stage = await ResourceStage.open(count);
  const row = { count, stalls: {} };
  const note = async (phase) => {
    row.stalls[phase] = await stage.stall();
  };
  // What happens until it listens is no stall: nobody is waiting yet.
  await stage.stall();
  row.sync = await stage.synced();
  await note('sync');
  const caller = await stage.openCaller();
  row.firstPage = (await caller.request('resources/list')).ms;
  row.firstSearch = (await caller.request('tools/call', searchFor('forecast'))).ms;
  await note('index');
  row.heapEach = (heldOf(await stage.memory()) - empty - bytesOfTexts(count)) / count;
  await stage.stall();
  row.cachedPage = median(await times(TURNS, () => caller.request('resources/list')));
  row.pages = await walk(caller, count);
  await note('list');
  row.searches = [];
  for (const search of SEARCHES) row.searches.push(await searched(stage, caller, search));
  row.slowestSearch = Math.max(...row.searches.map(({ cpu }) => cpu));
  await note('search');
  row.oneMore = await oneMore(stage, caller);
  await note('sync again');
  caller.close();
  await stage.close();
  return row;
}

const longest = ({ stalls }, butOf) =>
  Math.max(...Object.entries(stalls).flatMap(([phase, { own }]) => (phase === butOf ? [] : [own])));

const heldOf = ({ heapUsed, external }) => heapUsed + external;

const searchFor = (query) => ({ name: 'search_resources', arguments: { query } });

/** Words alone, and words together with a type. */
const SEARCHES = [...QUERIES.map((query) => ({ query })), ...FILTERED];
const titleOf = ({ query, mimeType }) => (mimeType ? `${query} (${mimeType})` : query);

async function times(turns, request) {
  const all = [];
  for (let turn = 0; turn < turns; turn++) all.push((await request()).ms);
  return all;
}

/** How long an answer takes, and what of that time the gateway had the processor. */
async function searched(stage, caller, search) {
  const call = { name: 'search_resources', arguments: search };
  const before = await stage.gateway.ask('cpu');
  const wall = median(await times(TURNS, () => caller.request('tools/call', call)));
  const after = await stage.gateway.ask('cpu');
  return { wall, cpu: (after.ms - before.ms) / TURNS };
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Every page, one after the other, as a client reads them. */
async function walk(caller, count) {
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
  const sorted = all.toSorted((a, b) => a - b);
  const total = all.reduce((sum, ms) => sum + ms, 0);
  return { total, p50: median(all), p99: sorted[Math.floor(sorted.length * 0.99)] };
}

/** One resource more at one server: until it is found, which is after it is listed. */
async function oneMore(stage, caller) {
  const beganAt = performance.now();
  await stage.addResource(7);
  await stage.until(async () => (await stage.total()) === stage.count + 1);
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
  ['one resource more: listed and found, ms', ({ oneMore: ms }) => whole(ms)],
  ...['sync', 'index', 'list', 'search', 'sync again'].map((phase) => [
    `longest stall: ${phase}`,
    ({ stalls }) => `${whole(stalls[phase].own)} (${whole(stalls[phase].wall)})`,
  ]),
];

const line = (first, cells) =>
  console.log(`| ${first.padEnd(60)} | ${cells.map((cell) => cell.padStart(13)).join(' | ')} |`);

function print(rows) {
  console.log('Where there are two figures: ms of the processor (ms on the clock).\n');
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
