import { fork, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const START_TIMEOUT_MS = 15_000;
const LAST_WORDS = 20;
const children = new Set();

// Whatever ends this process ends those it has started.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Starts a server that says where it listens with the last word of its first line. `ask` is for those that listen to IPC. */
export async function startServer(args, env = {}) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const untrack = track(
    child,
    args.find((arg) => !arg.startsWith('-')),
  );
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    setTimeout(() => reject(new Error(`${args[0]} did not listen in time`)), START_TIMEOUT_MS).unref();
  });
  return {
    url: line.trim().split(' ').at(-1),
    pid: child.pid,
    ask: asker(child),
    stop: () => {
      untrack();
      child.kill('SIGKILL');
      return new Promise((resolve) => child.once('close', resolve));
    },
  };
}

/** Starts a process that answers one message at a time. */
export function startWorker(path) {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
  track(child, path);
  return asker(child);
}

const asker = (child) => (job) =>
  new Promise((resolve, reject) => {
    child.once('message', (result) => (result.error ? reject(new Error(result.error)) : resolve(result)));
    child.send(job);
  });

/** A benchmark without one of its processes measures nothing: it ends with that one, and shows why. */
function track(child, name) {
  const words = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (words.push(line) > LAST_WORDS) words.shift();
  });
  children.add(child);
  const ended = (code, signal) => {
    console.error([...words, `bench: ${name} ended (${signal ?? code})`].join('\n'));
    process.exit(1);
  };
  child.once('close', () => children.delete(child));
  child.once('close', ended);
  return () => child.off('close', ended);
}
