import { knownDifferences } from './known-differences.mjs';
import { startFixture, startGateway, stdioFixture } from './processes.mjs';
import { testClient, testServer } from './suite.mjs';

const ERAS = ['2025', '2026'];
/**
 * Settings of a server of 2025 for clients of 2026. Roots belong to one client, so that only a link of its own has them. The suite
 * does not continue some calls that ask; these keep a place at the server, of which they get half.
 */
const ASKING = { isolation: 'session', concurrency: 64 };

/** A fixture of its own for each lane, because scenarios change its lists. */
async function withFixture(era, use) {
  const fixture = await startFixture(era);
  try {
    return await use(fixture.url);
  } finally {
    await fixture.stop();
  }
}

async function throughGateway(server, era) {
  const gateway = await startGateway(server);
  try {
    return await testServer(gateway.url, era);
  } finally {
    await gateway.stop();
  }
}

/** The suite as a client of `era`, in front of the fixture of each era. */
function serverRole(era) {
  const lanes = ERAS.flatMap((server) => {
    const known = knownDifferences(era, server);
    const settings = era === '2026' && server === '2025' ? ASKING : {};
    const http = () => withFixture(server, (url) => throughGateway({ url, ...settings }, era));
    const stdio = () => throughGateway({ ...stdioFixture(server), ...settings }, era);
    return [
      { name: `gateway, HTTP of ${server}`, run: http, known },
      { name: `gateway, stdio of ${server}`, run: stdio, known },
    ];
  });
  return { direct: () => withFixture(era, (url) => testServer(url, era)), lanes };
}

/** The suite as servers of `era`, behind an SDK client of each era. */
function clientRole(era, { required, reported }) {
  const run = (sdk, throughIt) => () =>
    testClient([...required, ...reported], era, { sdk, throughGateway: throughIt });
  const lanes = ERAS.map((sdk) => ({ name: `gateway, SDK of ${sdk}`, run: run(sdk, true), known: {} }));
  return { direct: run(era, false), lanes };
}

/** The lanes of a role and an era, and the direct one, with which they are compared. */
export const lanesOf = (role, era, scenarios) =>
  role === 'server' ? serverRole(era) : clientRole(era, scenarios);
