const ROUNDS = 3;
/** In each round. What else happens on a machine comes in spells of a second, and is to hit all targets alike. */
const TURNS = 6;
const WARM_UP_MS = 150;
const MEASURE_MS = 250;

/** Loads every target until it is compiled: after so many requests or, where they are slow, so long. */
export async function warmUp(stage, workload, requests, longestMs) {
  const job = { workload, connections: 32, warmUpMs: 0, measureMs: longestMs, requests };
  for (const name of Object.keys(stage.targets)) await put(stage, name, job);
}

/**
 * Puts one workload on every target, in turns: what else happens on the machine then hits all of them, and a ratio of
 * neighbours in time says more than any figure alone.
 */
export async function compare(stage, workload, connections) {
  const names = Object.keys(stage.targets);
  const job = { workload, connections, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const turns = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const results = {};
      for (const name of names) results[name] = await put(stage, name, job);
      turns.push(results);
    }
    rounds.push(Object.fromEntries(names.map((name) => [name, meanOf(turns.map((turn) => turn[name]))])));
  }
  const comparison = {
    title: `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
    names,
    figure: (name, key) => median(rounds.map((results) => results[name][key])),
    /** Of the throughput. */
    ratio: (name, to) => median(rounds.map((results) => results[name].perSecond / results[to].perSecond)),
  };
  print(comparison);
  return comparison;
}

async function put({ targets, load }, name, job) {
  try {
    return await load({ ...targets[name], ...job });
  } catch (cause) {
    throw new Error(`${job.workload} on ${name}: ${cause.message}`, { cause });
  }
}

/** Of every figure. */
const meanOf = (results) =>
  Object.fromEntries(
    Object.keys(results[0]).map((key) => [
      key,
      results.reduce((sum, result) => sum + result[key], 0) / results.length,
    ]),
  );

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const COLUMNS = [
  ['req/s', ({ figure }, name) => figure(name, 'perSecond').toFixed(0)],
  [': direct', ({ ratio }, name) => ratio(name, 'direct').toFixed(2)],
  [': reference', ({ ratio }, name) => ratio(name, 'reference').toFixed(1)],
  ['p50 ms', ({ figure }, name) => figure(name, 'p50').toFixed(2)],
  ['p99 ms', ({ figure }, name) => figure(name, 'p99').toFixed(2)],
  ['CPU us/req', ({ figure }, name) => figure(name, 'cpuPerRequest').toFixed(0)],
];

const row = (first, cells) => console.log(`| ${first.padEnd(28)} | ${cells.join(' | ')} |`);

function print(comparison) {
  row(
    comparison.title,
    COLUMNS.map(([title]) => title.padStart(11)),
  );
  row(
    '-'.repeat(28),
    COLUMNS.map(() => `${'-'.repeat(10)}:`),
  );
  for (const name of comparison.names)
    row(
      name,
      COLUMNS.map(([, cell]) => cell(comparison, name).padStart(11)),
    );
  console.log();
}
