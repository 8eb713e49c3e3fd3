// `node bench/request-path.mjs [--files] [--root DIR]` counts the source files and functions that one tools/call, one
// resources/subscribe and one resource update pass through, with V8's precise coverage. Needs `npm run build` first, because
// it runs the unbundled files of build/. DIR is another checkout to measure, by default this one.
import { join, resolve as absolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket } from 'undici';
import { writeConfig } from './harness/config-file.mjs';
import { openSession } from './harness/session.mjs';
import { startServer } from './harness/processes.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const option = (name) => process.argv[process.argv.indexOf(name) + 1];
const root = process.argv.includes('--root') ? absolute(option('--root')) : here('..');
const READY_TIMEOUT_MS = 15_000;
const QUIET_MS = 1500;
/** An operation is repeated, so that every lazily created object exists before the run that counts. */
const WARM_UPS = 20;

/** V8's precise coverage of the gateway process, over its inspector. */
class Coverage {
  #socket;
  #lastId = 0;
  #pending = new Map();

  static async connect(url) {
    const coverage = new Coverage(url);
    await new Promise((opened, failed) => {
      coverage.#socket.addEventListener('open', opened);
      coverage.#socket.addEventListener('error', failed);
    });
    await coverage.#send('Profiler.enable');
    await coverage.#send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return coverage;
  }

  constructor(url) {
    this.#socket = new WebSocket(url);
    this.#socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(data);
      this.#pending.get(id)?.(result);
      this.#pending.delete(id);
    });
  }

  /** The functions of build/ that ran since the last call, module bodies left out. */
  async take() {
    const { result } = await this.#send('Profiler.takePreciseCoverage');
    const prefix = `file://${join(root, 'build')}/`;
    return result
      .filter(({ url }) => url.startsWith(prefix))
      .flatMap(({ url, functions }) =>
        functions
          .map(({ functionName, ranges: [range] }) => ({
            file: url.slice(prefix.length),
            name: functionName,
            start: range.startOffset,
            count: range.count,
          }))
          .filter(({ count, start, name }) => count > 0 && !(start === 0 && name === '')),
      );
  }

  #send(method, params = {}) {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

const calls = await startServer([here('servers/lean-backend.mjs')]);
const resources = await startServer([here('servers/fanout-backend.mjs')]);
const config = writeConfig({
  http: { port: 0 },
  metaTools: false,
  mcpServers: { calls: { url: calls.url }, resources: { url: resources.url } },
});

const { url, inspector } = await startGateway();
const coverage = await Coverage.connect(inspector);
const { connection, headers } = await openSession(url);
let lastId = 0;

async function request(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params });
  const { body: bytes } = await connection.request('POST', headers, body);
  const { result, error } = JSON.parse(bytes.toString());
  if (!result) throw new Error(`${method} was answered with ${JSON.stringify(error)}`);
}

const call = () => request('tools/call', { name: 'calls__echo', arguments: { message: 'hello' } });
const uri = 'resource://resources/bench://narrow';
const subscribe = () => request('resources/subscribe', { uri });
const unsubscribe = () => request('resources/unsubscribe', { uri });
const update = () => resources.ask({ updated: 'bench://narrow' });

await untilListed();
for (let run = 0; run < WARM_UPS; run++) await call();
await report('tools/call', call);
await subscribe();
// An upstream subscription is kept for half a second after its last subscriber left.
for (let run = 0; run < 2; run++) {
  await unsubscribe();
  await sleep(QUIET_MS);
  await subscribe();
}
await unsubscribe();
await report('resources/subscribe', subscribe);
for (let run = 0; run < WARM_UPS; run++) await update();
await report('resource update', update);
process.exit(0);

/** Counts the functions that run during one operation, without those that also run while the gateway is idle. */
async function report(title, operation) {
  await sleep(QUIET_MS);
  await coverage.take();
  await sleep(QUIET_MS);
  const background = new Set((await coverage.take()).map(keyOf));
  await operation();
  await sleep(50);
  const functions = (await coverage.take()).filter((each) => !background.has(keyOf(each)));
  const files = new Map();
  for (const { file, count } of functions) files.set(file, (files.get(file) ?? 0) + count);
  console.log(`${title}: ${files.size} files, ${functions.length} functions`);
  if (process.argv.includes('--files'))
    for (const file of [...files.keys()].toSorted((a, b) => a.localeCompare(b))) console.log(`  ${file}`);
}

function keyOf({ file, name, start }) {
  return `${file} ${name} ${start}`;
}

async function untilListed() {
  const giveUpAt = performance.now() + READY_TIMEOUT_MS;
  for (;;) {
    try {
      await call();
      await subscribe();
      await unsubscribe();
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(50);
    }
  }
}

async function startGateway() {
  const child = spawn(
    process.execPath,
    ['--inspect=0', '--import', 'reflect-metadata', join(root, 'build/main.js'), '--config', config],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  process.on('exit', () => child.kill('SIGKILL'));
  const inspectorUrl = new Promise((found) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const match = /^Debugger listening on (ws:\S+)/.exec(line);
      if (match) found(match[1]);
    });
  });
  const listening = new Promise((found, failed) => {
    createInterface({ input: child.stdout }).once('line', (line) => found(line.trim().split(' ').at(-1)));
    setTimeout(() => failed(new Error('the gateway did not listen in time')), READY_TIMEOUT_MS).unref();
  });
  return { url: await listening, inspector: await inspectorUrl };
}
