/**
 * `npm start`: builds the gateway if there is none or if it is older than what it is made of, and becomes it. Not a
 * `prestart` script: npm runs none where install scripts are switched off, as `.npmrc` has it.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = join(root, 'dist/main.js');
const MADE_OF = ['src', 'scripts', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

const WATCH_EVERY_MS = 250;

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function* filesIn(path) {
  if (!statSync(path).isDirectory()) yield path;
  else for (const name of readdirSync(path)) yield* filesIn(join(path, name));
}

function isCurrent() {
  const builtAt = changedAt(BUILT);
  for (const part of MADE_OF)
    for (const file of filesIn(join(root, part))) if (changedAt(file) > builtAt) return false;
  return true;
}

if (!isCurrent()) {
  // Nothing but the line that says where the gateway listens goes to stdout.
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
}

// A signal to npm ends npm and its shell, and does not come this far: then the gateway is to go, too.
const { pid, ppid } = process;
const watch = setInterval(() => {
  if (process.ppid === ppid) return;
  clearInterval(watch);
  process.kill(pid, 'SIGTERM');
}, WATCH_EVERY_MS).unref();

await import('../dist/main.js');
