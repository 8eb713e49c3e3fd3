import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Backend } from '../../src/backends/backend.js';
import { createLinkFactory } from '../../src/backends/link/link-factory.js';
import { readConfig } from '../../src/config/load-config.js';
import { onCleanup } from '../kit/cleanup.js';
import { descendantsOf } from '../kit/processes.js';
import { until } from '../kit/until.js';

const CYCLES = 100;

/** The argument of `sleep` by which the processes of one server are found: unique on this machine. */
let lastMarker = 0;
const nextMarker = (): string => `600.${process.pid}${lastMarker++}`;

/** Arguments of a shell that starts another shell, as package runners do. The inner shell leaves a process behind. */
const wrapped = (marker: string): string[] => [
  '-c',
  'sh "$0" "$1"; true',
  resolve('test/kit/minimal-server.sh'),
  marker,
];

/** The running processes that a server started. */
const processesOf = (marker: string): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(marker));

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function startBackend(marker: string): Backend {
  const text = JSON.stringify({ mcpServers: { cycles: { command: 'sh', args: wrapped(marker) } } });
  const { mcpServers, limits } = readConfig({ text, source: 'test', env: {} });
  const config = mcpServers.get('cycles')!;
  const ignoreEvents = {
    listed: async () => {},
    notified: () => {},
    linkChanged: () => {},
    sessionLinkOpened: () => {},
    stateChanged: () => {},
    sessionListed: async () => {},
    sessionListOverLimit: () => {},
  };
  const backend = new Backend('cycles', config, createLinkFactory('cycles', config, limits), ignoreEvents);
  onCleanup(() => backend.stop());
  backend.start();
  return backend;
}

/** Waits until the link is ready with another process than `before`. */
const nextPid = (backend: Backend, before?: number): Promise<number> =>
  until('the server is ready', () => {
    const { state, pid } = backend.status();
    return state === 'ready' && pid !== before ? pid : undefined;
  });

type End = (backend: Backend, pid: number) => unknown;

const ENDS: [string, End][] = [
  ['by a requested reconnect', (backend) => backend.reconnect()],
  [
    'by SIGKILL',
    async (backend, pid) => {
      process.kill(pid, 'SIGKILL');
      await until('the backend is no longer ready', () => backend.status().state !== 'ready');
      // Skips the backoff after a crash.
      backend.reconnect();
    },
  ],
];

interface Outcome {
  readonly restarts: number;
  /** The processes before and after the stop of the backend. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Ends the link of a server repeatedly, and finds the processes that remain. */
async function cycle(end: End): Promise<Outcome> {
  const marker = nextMarker();
  const backend = startBackend(marker);
  let pid = await nextPid(backend);
  for (let count = 0; count < CYCLES; count++) {
    await end(backend, pid);
    pid = await nextPid(backend, pid);
  }
  const { restarts } = backend.status();
  const before = processesOf(marker);
  await backend.stop();
  return { restarts, before, after: processesOf(marker) };
}

describe('repeated reconnects of a server', () => {
  const processesBefore = descendantsOf(process.pid);
  const outcomes = new Map<string, Outcome>();

  // They mostly wait for processes to exit, so they run concurrently.
  beforeAll(async () => {
    Logger.overrideLogger(false);
    const cycles = ENDS.map(async ([how, end]) => outcomes.set(how, await cycle(end)));
    await Promise.all(cycles);
  }, 240_000);
  afterAll(() => Logger.overrideLogger(['error']));

  it.each(ENDS)(`leave no process behind in ${CYCLES} cycles, %s`, (how) => {
    const { restarts, before, after } = outcomes.get(how)!;
    expect(restarts).toBe(CYCLES);
    expect(before.length).toBeGreaterThan(0);
    expect(after).toEqual([]);
    expect(descendantsOf(process.pid)).toEqual(processesBefore);
  });
});
