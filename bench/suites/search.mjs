import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WORKER = fileURLToPath(new URL('../harness/search-worker.mjs', import.meta.url));
/** MiniSearch takes minutes and gigabytes for a million documents. */
const RUNS = [
  ['ours', 10_000],
  ['minisearch', 10_000],
  ['ours', 100_000],
  ['minisearch', 100_000],
  ['ours', 1_000_000],
];
const QUERIES = {
  'a rare word': { query: '0004217' },
  'a word that all have': { query: 'the' },
  'one letter': { query: 'p' },
  'one digit': { query: '0' },
  'three words': { query: 'incident postmortem payments' },
  'a typo': { query: 'archtecture' },
  'twelve words': { query: 'the file srv on and that team keeps report summary notes plan' },
  'a type that none has': { query: 'the', mimeType: 'audio/ogg' },
};
const JOB = { queries: Object.values(QUERIES), runs: 7, warmUps: 5 };

/** The full-text index alone, and MiniSearch with the same documents. */
export async function search() {
  const rows = [];
  for (const [engine, count] of RUNS)
    rows.push({
      engine,
      count,
      ...(await measured(engine, count, { ...JOB, withRemoval: engine === 'ours' })),
    });
  print(rows);
  const [, , ours, theirs, large] = rows;
  return [
    { what: 'slowest search (ms) over 100,000', is: worst(ours), ceiling: 20 },
    { what: 'slowest search (ms) over 1,000,000', is: worst(large), ceiling: 150 },
    { what: 'index per document (bytes) at 100,000', is: ours.bytesEach, ceiling: 250 },
    { what: 'longest stall (ms) of adding 100,000', is: ours.adding.longest, ceiling: 20 },
    { what: 'memory, MiniSearch : ours', is: theirs.bytesEach / ours.bytesEach, floor: 5 },
    { what: 'slowest search, MiniSearch : ours', is: worst(theirs) / worst(ours), floor: 10 },
  ];
}

const worst = ({ times }) => Math.max(...times.map(({ median }) => median));

function measured(engine, count, job) {
  const child = fork(WORKER, [engine, String(count)], {
    execArgv: ['--expose-gc', '--max-old-space-size=8192'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`search-worker.mjs ended (${code})`)));
    child.send(job);
  });
}

const whole = (value) => value.toFixed(0);
const fine = (value) => value.toFixed(1);

const LINES = [
  ['added, ms', ({ adding }) => whole(adding.total)],
  ['longest of the slices of 64, ms', ({ adding }) => fine(adding.longest)],
  ['memory per document, bytes', ({ bytesEach }) => whole(bytesEach)],
  ...Object.keys(QUERIES).map((what, index) => [
    `search for ${what}, ms (the first time)`,
    ({ times }) => `${times[index].median.toFixed(2)} (${fine(times[index].first)})`,
  ]),
  ['two of three removed, ms', ({ removing }) => (removing ? whole(removing.total) : '')],
  ['longest of the slices of 64, ms', ({ removing }) => (removing ? fine(removing.longest) : '')],
];

const row = (first, cells) =>
  console.log(`| ${first.padEnd(52)} | ${cells.map((cell) => cell.padStart(18)).join(' | ')} |`);

function print(rows) {
  row(
    'full-text index',
    rows.map(({ engine, count }) => `${engine} ${count.toLocaleString('en')}`),
  );
  row(
    '-'.repeat(52),
    rows.map(() => `${'-'.repeat(17)}:`),
  );
  for (const [title, cell] of LINES) row(title, rows.map(cell));
  console.log();
}
