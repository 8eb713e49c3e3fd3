import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { node24 } from '../../.ci/node24/node24.mjs';

/** The revisions of the two eras. */
export const REVISIONS = { 2025: '2025-11-25', 2026: '2026-07-28' };
/** The suite has a timeout of its own for each scenario. */
const TIMEOUT_MS = 120_000;
const PACKAGE = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/', import.meta.url),
);
const CLIENT = fileURLToPath(new URL('client.mjs', import.meta.url));

const withoutOAuth = (names) => names.filter((name) => !name.startsWith('auth/'));

/** The scenarios that the suite requires of an implementation of the era, and those that it only reports. */
export async function requirements(era) {
  const set = parse(await readFile(join(PACKAGE, 'requirements', `${REVISIONS[era]}.yaml`), 'utf8'));
  const reported = (leg) =>
    set.not_scored.filter((entry) => entry.leg === leg).map((entry) => entry.scenario);
  return {
    server: { required: set.server, reported: reported('server') },
    client: { required: withoutOAuth(set.client), reported: withoutOAuth(reported('client')) },
  };
}

/** Runs the suite's command line. Resolves with the checks by scenario, and with its output. */
async function runSuite(args, env = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const child = spawn(node24(), [join(PACKAGE, 'dist/index.js'), ...args, '-o', directory], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: TIMEOUT_MS,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    const [exitCode] = await once(child, 'close');
    return { checks: await checksIn(directory), exitCode, output };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The suite writes one directory per scenario: `server-ping-2026-01-31T12-00-00-000Z`. */
async function checksIn(directory) {
  const checks = new Map();
  for (const entry of await readdir(directory)) {
    const scenario = entry.replace(/^server-(?=.*-\d{4}-)/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const text = await readFile(join(directory, entry, 'checks.json'), 'utf8').catch(() => '[]');
    checks.set(scenario, JSON.parse(text));
  }
  return checks;
}

/** Runs the server scenarios of an era against a URL. */
export async function testServer(url, era) {
  const { checks, output } = await runSuite(['server', '--url', url, '--requirements', REVISIONS[era]]);
  return new Map([...checks].map(([scenario, found]) => [scenario, { checks: found, output }]));
}

/**
 * Runs client scenarios, in which the suite starts `client.mjs` with a server of `era`. `sdk` is the era of the SDK that
 * `client.mjs` uses, which connects to the gateway if `throughGateway`.
 */
export async function testClient(scenarios, era, { sdk, throughGateway }) {
  const env = {
    CONFORMANCE_NODE: process.execPath,
    CONFORMANCE_CLIENT: CLIENT,
    CONFORMANCE_SDK: sdk,
    CONFORMANCE_GATEWAY: String(throughGateway),
  };
  const command = 'exec "$CONFORMANCE_NODE" "$CONFORMANCE_CLIENT"';
  const results = new Map();
  for (const scenario of scenarios) {
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', REVISIONS[era]];
    const { checks, exitCode, output } = await runSuite(args, env);
    results.set(scenario, { checks: checks.get(scenario) ?? [], output, exitCode });
  }
  return results;
}
