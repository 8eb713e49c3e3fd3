/**
 * `npm start`: builds the gateway if the bundle is missing or older than its sources, and runs it in this process. Not a
 * `prestart` script: npm does not run these when install scripts are disabled, as in `.npmrc`.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const BUILT = join(root, 'dist/main.js');
const SOURCES = [
  'src',
  'scripts',
  'docs/operations.md',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];

const PARENT_CHECK_INTERVAL_MS = 250;

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

function* filesIn(path) {
  if (!statSync(path).isDirectory()) yield path;
  else for (const name of readdirSync(path)) yield* filesIn(join(path, name));
}

function isCurrent() {
  const builtAt = changedAt(BUILT);
  for (const part of SOURCES)
    for (const file of filesIn(join(root, part))) if (changedAt(file) > builtAt) return false;
  return true;
}

if (!isCurrent()) {
  // stdout is reserved for the line with the URL.
  process.stderr.write(
    'Building Gatehouse: dist/ is missing or older than its sources. This takes a few seconds.\n',
  );
  try {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    process.stderr.write('The build failed: correct the errors above, or run `npm ci` and start again.\n');
    process.exit(1);
  }
}

// A signal to npm ends npm and its shell but does not reach this process: the gateway ends when its parent does.
const { pid, ppid } = process;
const parentCheck = setInterval(() => {
  if (process.ppid === ppid) return;
  clearInterval(parentCheck);
  process.kill(pid, 'SIGTERM');
}, PARENT_CHECK_INTERVAL_MS).unref();

await import('../dist/main.js');
