import { fork, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const START_TIMEOUT_MS = 15_000;
const STDERR_LINES = 20;
const children = new Set();

// The children end with this process, however it ends.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Starts a server that prints its URL as the last word of its first line. `ask` sends an IPC message and returns the reply. */
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

/** Starts a process that replies to one IPC message at a time. */
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

/** The benchmark fails when one of its processes ends, and prints the last lines of that process. */
function track(child, name) {
  const lines = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (lines.push(line) > STDERR_LINES) lines.shift();
  });
  children.add(child);
  const ended = (code, signal) => {
    console.error([...lines, `bench: ${name} ended (${signal ?? code})`].join('\n'));
    process.exit(1);
  };
  child.once('close', () => children.delete(child));
  child.once('close', ended);
  return () => child.off('close', ended);
}

/** The resident memory of a process in bytes. */
export function rssOf({ pid }) {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(kilobytes) * 1024;
}
