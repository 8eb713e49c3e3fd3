import { mean, median } from './statistics.mjs';

const ROUNDS = 5;
/** Short measurements per target and round. Other load on the machine lasts about a second and hits all targets alike. */
const SAMPLES_PER_ROUND = 6;
const WARM_UP_MS = 150;
const MEASURE_MS = 250;

/** Loads every target until V8 has compiled it: for a number of requests or, where these are slow, for a time. */
export async function warmUp(harness, workload, { requests, maxMs, only }) {
  const job = { workload, connections: 32, warmUpMs: 0, measureMs: maxMs, requests };
  for (const name of only ?? Object.keys(harness.targets)) await run(harness, name, job);
}

/**
 * Runs one workload on every target in interleaved rounds. The ratio of two targets in one round says more than either
 * figure alone, because other load on the machine affects both.
 */
export async function compare(harness, workload, connections, { only } = {}) {
  const names = (only ?? Object.keys(harness.targets)).filter((name) => harness.targets[name]);
  const job = { workload, connections, warmUpMs: WARM_UP_MS, measureMs: MEASURE_MS };
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const samples = [];
    for (let sample = 0; sample < SAMPLES_PER_ROUND; sample++) {
      const results = {};
      for (const name of names) results[name] = await run(harness, name, job);
      samples.push(results);
    }
    rounds.push(Object.fromEntries(names.map((name) => [name, meanOf(samples.map((each) => each[name]))])));
  }
  /** The median of the ratio in each round; undefined when one of the targets was not measured. */
  const medianRatio = (key) => (name, to) =>
    names.includes(name) && names.includes(to)
      ? median(rounds.map((results) => results[name][key] / results[to][key]))
      : undefined;
  const comparison = {
    title: `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
    names,
    figure: (name, key) => median(rounds.map((results) => results[name][key])),
    /** Ratio of the throughputs. */
    ratio: medianRatio('perSecond'),
    /** Ratio of the CPU time per request. */
    cost: medianRatio('cpuPerRequest'),
  };
  print(comparison);
  return comparison;
}

/** The lower bounds whose targets were measured. */
export const floors = (...rows) => rows.filter(({ is }) => is !== undefined);

async function run({ targets, load }, name, job) {
  const { url, pid, toolPrefix, uriPrefix, era } = targets[name];
  try {
    return await load({ url, pid, toolPrefix, uriPrefix, era, ...job });
  } catch (cause) {
    throw new Error(`${job.workload} on ${name}: ${cause.message}`, { cause });
  }
}

const meanOf = (results) =>
  Object.fromEntries(Object.keys(results[0]).map((key) => [key, mean(results.map((result) => result[key]))]));

const ratioCell = (ratio, digits) => (ratio === undefined ? '' : ratio.toFixed(digits));

const COLUMNS = [
  ['req/s', ({ figure }, name) => figure(name, 'perSecond').toFixed(0)],
  [': direct', ({ ratio }, name) => ratioCell(ratio(name, 'direct'), 2)],
  [': nginx', ({ ratio }, name) => ratioCell(ratio(name, 'nginx'), 2)],
  [': reference', ({ ratio }, name) => ratioCell(ratio(name, 'reference'), 1)],
  ['p50 ms', ({ figure }, name) => figure(name, 'p50').toFixed(2)],
  ['p99 ms', ({ figure }, name) => figure(name, 'p99').toFixed(2)],
  ['CPU us/req', ({ figure }, name) => figure(name, 'cpuPerRequest').toFixed(0)],
];

const row = (first, cells) => console.log(`| ${first.padEnd(42)} | ${cells.join(' | ')} |`);

function print(comparison) {
  row(
    comparison.title,
    COLUMNS.map(([title]) => title.padStart(11)),
  );
  row(
    '-'.repeat(42),
    COLUMNS.map(() => `${'-'.repeat(10)}:`),
  );
  for (const name of comparison.names)
    row(
      name,
      COLUMNS.map(([, cell]) => cell(comparison, name).padStart(11)),
    );
  console.log();
}
