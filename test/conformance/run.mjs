// `npm run conformance [-- --json FILE]`: the official suite for revision 2025-11-25, directly against the fixture and
// through the built gateway. Exits with 1 if a required scenario fails, or if a check that succeeds directly does not
// succeed through the gateway.
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startFixture, startGateway, stdioFixture } from './processes.mjs';
import { requirements, testClient, testServer } from './suite.mjs';
import { explain, judge } from './verdict.mjs';

/** The counts of the suite's version in package.json, so that a shorter list of the suite is noticed. */
const EXPECTED = { server: 30, client: 4 };

const { values } = parseArgs({ options: { json: { type: 'string' } } });
const counts = { passed: 0, failed: 0 };

/** Prints the counts of one lane, and what failed in it. */
function report(lane, scenarios, results, direct) {
  const { passed, failed, reported } = judge(scenarios, results, direct);
  // A direct lane says what the fixture can do; it is no result of the gateway.
  if (direct) counts.passed += passed.length;
  counts.failed += failed.length;
  console.log(
    `${lane.padEnd(32)}${passed.length} of ${scenarios.required.length} required scenarios pass,`,
    `${reported.length} of ${scenarios.reported.length} others`,
  );
  for (const scenario of failed)
    console.log(`\nFAILED: ${lane}: ${scenario}\n${explain(results.get(scenario))}`);
  return results;
}

async function throughGateway(server) {
  const gateway = await startGateway(server);
  try {
    return await testServer(gateway.url);
  } finally {
    await gateway.stop();
  }
}

async function serverLanes(scenarios) {
  const fixture = await startFixture('2025');
  const modern = await startFixture('2026');
  try {
    const direct = report('server, direct', scenarios, await testServer(fixture.url));
    const lane = async (name, server) => report(name, scenarios, await throughGateway(server), direct);
    await lane('server, gateway, HTTP', { url: fixture.url });
    await lane('server, gateway, stdio', stdioFixture('2025'));
    await lane('server, gateway, HTTP of 2026', { url: modern.url });
    await lane('server, gateway, stdio of 2026', stdioFixture('2026'));
  } finally {
    await Promise.all([fixture.stop(), modern.stop()]);
  }
}

async function clientLanes(scenarios) {
  const names = [...scenarios.required, ...scenarios.reported];
  const direct = report('client, direct', scenarios, await testClient(names, 'direct'));
  report('client, gateway', scenarios, await testClient(names, 'gateway'), direct);
}

const sets = await requirements();
for (const [role, expected] of Object.entries(EXPECTED)) {
  const { length } = sets[role].required;
  if (length !== expected)
    throw new Error(`the suite requires ${length} ${role} scenarios, not the expected ${expected}`);
}
await serverLanes(sets.server);
await clientLanes(sets.client);
if (values.json) await writeFile(values.json, JSON.stringify(counts));
process.exitCode = counts.failed > 0 ? 1 : 0;
