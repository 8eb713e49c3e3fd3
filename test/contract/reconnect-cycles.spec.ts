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

/** A sleep that no other process uses, and different for each server. */
let naps = 0;
const nextNap = (): string => `600.${process.pid}${naps++}`;

/** A shell around a shell, as package runners do it; the inner one leaves a process behind. */
const wrapped = (nap: string): string[] => [
  '-c',
  'sh "$0" "$1"; true',
  resolve('test/kit/minimal-server.sh'),
  nap,
];

/** Everything that a server started and that still runs. */
const leftOver = (nap: string): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(nap));

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function startBackend(nap: string): Backend {
  const text = JSON.stringify({ mcpServers: { cycles: { command: 'sh', args: wrapped(nap) } } });
  const { mcpServers, limits } = readConfig({ text, source: 'test', env: {} });
  const config = mcpServers.get('cycles')!;
  const ignoreEvents = {
    listed: async () => {},
    notified: () => {},
    linkChanged: () => {},
    sessionLinkOpened: () => {},
    stateChanged: () => {},
  };
  const backend = new Backend('cycles', config, createLinkFactory('cycles', config, limits), ignoreEvents);
  onCleanup(() => backend.stop());
  backend.start();
  return backend;
}

/** The process behind the link, once it is another than `before`. */
const nextPid = (backend: Backend, before?: number): Promise<number> =>
  until('the server is ready', () => {
    const { state, pid } = backend.status();
    return state === 'ready' && pid !== before ? pid : undefined;
  });

type End = (backend: Backend, pid: number) => unknown;

const ENDS: [string, End][] = [
  ['because it was asked for', (backend) => backend.reconnect()],
  [
    'because it was killed',
    async (backend, pid) => {
      process.kill(pid, 'SIGKILL');
      await until('the loss was noticed', () => backend.status().state !== 'ready');
      // Skips the backoff after a crash.
      backend.reconnect();
    },
  ],
];

interface Outcome {
  readonly restarts: number;
  /** The processes right before the stop, and after it. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Ends the connection of a server in one way repeatedly, and counts the processes. */
async function cycle(end: End): Promise<Outcome> {
  const nap = nextNap();
  const backend = startBackend(nap);
  let pid = await nextPid(backend);
  for (let count = 0; count < CYCLES; count++) {
    await end(backend, pid);
    pid = await nextPid(backend, pid);
  }
  const { restarts } = backend.status();
  const before = leftOver(nap);
  await backend.stop();
  return { restarts, before, after: leftOver(nap) };
}

describe('repeated reconnects of a server', () => {
  const ofOthers = descendantsOf(process.pid);
  const outcomes = new Map<string, Outcome>();

  // They mostly wait for processes to exit, so they run concurrently.
  beforeAll(async () => {
    Logger.overrideLogger(false);
    const cycles = ENDS.map(async ([why, end]) => outcomes.set(why, await cycle(end)));
    await Promise.all(cycles);
  }, 120_000);
  afterAll(() => Logger.overrideLogger(['error']));

  it.each(ENDS)(`leave no process behind in ${CYCLES} cycles, %s`, (why) => {
    const { restarts, before, after } = outcomes.get(why)!;
    expect(restarts).toBe(CYCLES);
    expect(before.length).toBeGreaterThan(0);
    expect(after).toEqual([]);
    expect(descendantsOf(process.pid)).toEqual(ofOthers);
  });
});
