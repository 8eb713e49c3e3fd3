// One column of the table: the rows of one SDK's client, or of one SDK's server in one mode.
import { equal } from 'node:assert/strict';
import { CLIENT_ROWS } from './client-rows.mjs';
import { CuttingProxy } from './cutting-proxy.mjs';
import { freePort, Gateway } from './gateway.mjs';
import { MODERN_CLIENT_ROWS } from './modern-client-rows.mjs';
import { ClientProgram, ServerProgram, START_MS } from './programs.mjs';
import { SDK_GAPS } from './sdk-faults.mjs';
import { NODE, NODE_2 } from './sdks.mjs';
import { SERVER_ROWS } from './server-rows.mjs';

const REFRESH_MS = 1_000;
const REVISIONS = { 2025: '2025-11-25', 2026: '2026-07-28' };

/** A client that uses the revision of the era. Programs on SDKs with one era do not name the revision. */
async function connected(sdk, url, answer, { era = '2025', ...more } = {}) {
  const client = new ClientProgram(sdk.client);
  try {
    const { protocol } = await client.do('connect', { url, answer, era, ...more }, START_MS);
    equal(protocol ?? REVISIONS[2025], REVISIONS[era], 'the revision of the client');
  } catch (error) {
    await client.stop('SIGKILL');
    throw error;
  }
  return client;
}

const startServer = ({ server }, mode, port, env) =>
  ServerProgram.start({ ...server, args: [...(server.args ?? []), mode, String(port)], env });

/** Stops what was started, the last first. */
class Cleanup {
  #steps = [];

  add(stoppable) {
    this.#steps.push(stoppable);
    return stoppable;
  }

  async run() {
    for (const one of this.#steps.splice(0).toReversed()) await one.stop();
  }
}

/** What the rows of a client see: the endpoint through the gateway, or the server itself. */
class ClientContext {
  #all = new Cleanup();
  #row = new Cleanup();

  constructor(sdk, era, server) {
    this.sdk = sdk;
    this.era = era;
    this.server = server;
  }

  async start(isDirect) {
    const server = this.#all.add(await startServer(this.server, 'http', 0));
    this.entry = { url: server.url, ...this.server.settings };
    if (!isDirect) this.gateway = this.#all.add(await Gateway.start(this.entry));
    this.url = this.gateway?.url ?? server.url;
  }

  /** Clients that several rows use; after a row that failed, new ones. */
  async prepare() {
    const { era } = this;
    this.first ??= await connected(this.sdk, this.url, 'first', { era });
    this.second ??= await connected(this.sdk, this.url, 'second', { era });
    this.reference ??= await connected(NODE, this.url, 'reference');
  }

  newClient = async (url = this.url) =>
    this.#row.add(await connected(this.sdk, url, 'own', { era: this.era }));

  newProxy = async () => this.#row.add(await CuttingProxy.start(this.url));

  newGateway = async (settings) => this.#row.add(await Gateway.start(this.entry, settings));

  renewReference = async () => {
    await this.reference.stop('SIGKILL');
    this.reference = await connected(NODE, this.url, 'reference');
  };

  async afterRow(failed) {
    await this.#row.run();
    if (failed) await this.#dropClients();
  }

  async #dropClients() {
    for (const name of ['first', 'second', 'reference']) {
      await this[name]?.stop('SIGKILL');
      this[name] = undefined;
    }
  }

  async stop() {
    await this.#dropClients();
    await this.#all.run();
  }
}

/** What the rows of a server see: two clients, a way to deploy the server again, and parts that end with the row. */
class ServerContext {
  #row = new Cleanup();

  constructor(sdk, mode) {
    this.sdk = sdk;
    this.mode = mode;
  }

  async start(isDirect) {
    this.port = await freePort();
    if (this.mode !== 'stdio') await this.deploy({});
    if (!isDirect) this.gateway = await Gateway.start(this.#entry());
    this.url = this.gateway?.url ?? this.program.url;
  }

  /** The server in the configuration of a gateway. */
  #entry(given = {}) {
    const { command, args = [] } = this.sdk.server;
    const target = this.mode === 'stdio' ? { command, args: [...args, 'stdio'] } : { url: this.program.url };
    return { ...target, refreshMs: REFRESH_MS, ...this.sdk.settings, ...given };
  }

  newGateway = async (entry) => this.#row.add(await Gateway.start(this.#entry(entry)));

  newClient = async (url, more) => this.#row.add(await connected(NODE, url, 'own', more));

  newServer = async (env) => this.#row.add(await startServer(this.sdk, this.mode, 0, env));

  newProxy = async (url) => this.#row.add(await CuttingProxy.start(url));

  deploy = async (env) => {
    await this.program?.stop();
    this.program = await startServer(this.sdk, this.mode, this.port, env);
  };

  async prepare() {
    this.first ??= await connected(NODE, this.url, 'first');
    this.second ??= await connected(NODE, this.url, 'second');
    for (const client of [this.first, this.second]) client.events.length = 0;
  }

  async afterRow(failed) {
    await this.#row.run();
    if (!failed) return;
    for (const name of ['first', 'second']) {
      await this[name]?.stop('SIGKILL');
      this[name] = undefined;
    }
  }

  async stop() {
    await this.afterRow(true);
    await this.gateway?.stop();
    await this.program?.stop();
  }
}

const clientColumn = (sdk) => ({
  id: sdk.id,
  title: sdk.title,
  role: 'client',
  rows: CLIENT_ROWS,
  applies: () => true,
  newContext: () => new ClientContext(sdk, '2025', NODE),
});

/** A client of 2026 in front of the reference server of an era. Without the gateway, it needs the one of 2026. */
const modernClientColumn = (sdk, era, server) => {
  const id = `${sdk.id}/2026-${era}`;
  return {
    id,
    title: `${sdk.title}, server of ${era}`,
    role: 'client-2026',
    gateway: era !== '2026',
    rows: MODERN_CLIENT_ROWS,
    applies: ({ title }) => SDK_GAPS[id]?.[title] === undefined,
    newContext: () => new ClientContext(sdk, '2026', server),
  };
};

const serverColumn = (sdk, mode) => ({
  id: `${sdk.id}/${mode}`,
  title: `${sdk.title}, ${mode}`,
  role: 'server',
  gateway: mode === 'stdio',
  rows: SERVER_ROWS,
  applies: ({ modes = sdk.modes, needs }) =>
    modes.includes(mode) && (needs === undefined || sdk[needs]?.includes(mode) === true),
  newContext: () => new ServerContext(sdk, mode),
});

export const columnsOf = (sdk) => [
  ...(sdk.eras.includes('2025') ? [clientColumn(sdk)] : []),
  ...(sdk.eras.includes('2026')
    ? [modernClientColumn(sdk, '2025', NODE), modernClientColumn(sdk, '2026', NODE_2)]
    : []),
  ...sdk.modes.map((mode) => serverColumn(sdk, mode)),
];

async function runRow(context, row) {
  const started = Date.now();
  let error;
  try {
    await context.prepare();
    await row.run(context);
  } catch (thrown) {
    error = thrown;
  }
  await context.afterRow(error !== undefined);
  return { row, ms: Date.now() - started, error };
}

/** Runs the rows of a column one after the other; `report` is called after each. */
export async function runColumn(column, rows, { isDirect, report }) {
  const context = column.newContext();
  const results = [];
  try {
    await context.start(isDirect);
    for (const row of rows) {
      const result = await runRow(context, row);
      results.push(result);
      await report(result);
    }
  } finally {
    await context.stop();
  }
  return results;
}
