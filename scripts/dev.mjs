/**
 * `npm run start:dev`: builds and starts the gateway, and builds and restarts it whenever a file of `src/` changes. After a
 * failed build the running gateway stays. Arguments are passed to the gateway.
 */
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Debounce: editors write a file in several steps. */
const DEBOUNCE_MS = 150;

let gateway;
let timer;
let isBuilding = false;
let isDirty = false;

const run = (command, args) => spawn(command, args, { cwd: root, stdio: 'inherit' });

const exitOf = (child) => new Promise((resolve) => child.once('exit', resolve));

async function stop() {
  if (!gateway || gateway.exitCode !== null || gateway.signalCode !== null) return;
  const exited = exitOf(gateway);
  gateway.kill('SIGTERM');
  // A second signal ends a gateway that still drains.
  const secondSignal = setTimeout(() => gateway.kill('SIGTERM'), 1000);
  await exited;
  clearTimeout(secondSignal);
}

async function rebuild() {
  isBuilding = true;
  isDirty = false;
  const code = await exitOf(run('npm', ['run', '--silent', 'build']));
  if (code === 0) {
    await stop();
    gateway = run(process.execPath, ['dist/main.js', ...process.argv.slice(2)]);
  } else console.error('build failed; waiting for a change');
  isBuilding = false;
  if (isDirty) await rebuild();
}

function onChange() {
  isDirty = true;
  if (isBuilding) return;
  clearTimeout(timer);
  timer = setTimeout(() => void rebuild(), DEBOUNCE_MS);
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => void stop().finally(() => process.exit(0)));

watch(join(root, 'src'), { recursive: true }, (_event, name) => {
  if (name === null || (/\.tsx?$/.test(name) && !/\.spec\.tsx?$/.test(name))) onChange();
});
await rebuild();
