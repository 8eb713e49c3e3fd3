// `npm run conformance [-- --json FILE] [--lane TEXT]`: the official suite for both eras, directly against the fixture and
// through the built gateway, or only the lanes with this text in their name. Exits with 1 if a scenario fails, if a check that
// succeeds directly does not succeed through the gateway, or if a known difference does not show.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { lanesOf } from './lanes.mjs';
import { requirements } from './suite.mjs';
import { explain, judge } from './verdict.mjs';

/** Required scenarios by role and era, so that a shorter list of another version of the suite is noticed. */
const EXPECTED = { server: { 2025: 30, 2026: 37 }, client: { 2025: 4, 2026: 7 } };
/** Lanes at a time. More do not fit on two cores: scenarios have time limits of half a second. */
const PARALLEL = 2;

const { values } = parseArgs({ options: { json: { type: 'string' }, lane: { type: 'string' } } });
const counts = { passed: 0, failed: 0, skipped: 0 };
let free = PARALLEL;
const waiting = [];

/** Runs a lane when fewer than `PARALLEL` are running, in the order of the calls. */
async function inTurn(run) {
  if (free > 0) free -= 1;
  else await new Promise((resolve) => waiting.push(resolve));
  try {
    return await run();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}

/** Prints the counts of one lane, and what failed in it. */
function report(lane, scenarios, results, direct, knownDifferences) {
  const { passed, failed, reported, known } = judge(scenarios, results, direct, knownDifferences);
  // A direct lane says what the fixture can do; it is no result of the gateway.
  if (direct) {
    counts.passed += passed.length;
    counts.skipped += known.length;
  }
  counts.failed += failed.length;
  console.log(
    `${lane.padEnd(38)}${passed.length} of ${scenarios.required.length} required scenarios pass,`,
    `${reported.length} of ${scenarios.reported.length} others` +
      (known.length > 0 ? `, ${known.length} with a known difference` : ''),
  );
  for (const scenario of known) console.log(`  ${scenario}: ${knownDifferences[scenario].reason}`);
  for (const scenario of failed)
    console.log(`\nFAILED: ${lane}: ${scenario}\n${explain(results.get(scenario), direct?.get(scenario))}`);
}

/** Starts the lanes of a role and an era. Returns what reports them in their order. */
async function start(role, era) {
  const scenarios = (await requirements(era))[role];
  const { length } = scenarios.required;
  if (length !== EXPECTED[role][era])
    throw new Error(`the suite requires ${length} ${role} scenarios of ${era}, not ${EXPECTED[role][era]}`);
  const { direct, lanes } = lanesOf(role, era, scenarios);
  const named = lanes.map((lane) => ({ ...lane, name: `${role} ${era}, ${lane.name}` }));
  const chosen = named.filter(({ name }) => name.includes(values.lane ?? ''));
  if (chosen.length === 0) return () => undefined;
  const reference = inTurn(direct);
  const running = chosen.map(({ run, ...lane }) => ({ ...lane, results: inTurn(run) }));
  return async () => {
    report(`${role} ${era}, direct`, scenarios, await reference);
    for (const { name, results, known } of running)
      report(name, scenarios, await results, await reference, known);
  };
}

const started = [];
for (const [role, eras] of Object.entries(EXPECTED))
  for (const era of Object.keys(eras)) started.push(await start(role, era));
for (const reportAll of started) await reportAll();
if (values.json) await writeFile(values.json, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
