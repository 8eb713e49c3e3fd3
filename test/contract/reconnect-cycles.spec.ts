import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Backend } from '../../src/backends/backend.js';
import { connectTo } from '../../src/backends/connect.js';
import { readConfig } from '../../src/config/load-config.js';
import { onCleanup } from '../kit/cleanup.js';
import { descendantsOf } from '../kit/processes.js';
import { until } from '../kit/until.js';

const CYCLES = 100;

/** No other process on the machine sleeps for just this long. */
const NAP = `600.${process.pid}`;

/** A shell around a shell, as package runners do it; the inner one leaves a process behind. */
const WRAPPED = ['-c', 'sh "$0" "$1"; true', resolve('test/kit/quick-server.sh'), NAP];

/** Everything that a server started and that still runs. */
const leftOver = (): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(NAP));

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function startBackend(): Backend {
  const text = JSON.stringify({ mcpServers: { cycles: { command: 'sh', args: WRAPPED } } });
  const { mcpServers, limits } = readConfig({ text, file: 'test', env: {} });
  const config = mcpServers.get('cycles')!;
  const nobody = {
    listed: () => {},
    notified: () => {},
    linked: () => {},
    ownLinked: () => {},
    stateChanged: () => {},
  };
  const backend = new Backend('cycles', config, connectTo('cycles', config, limits), nobody);
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

describe('a server that is connected again and again', () => {
  beforeAll(() => Logger.overrideLogger(false));
  afterAll(() => Logger.overrideLogger(['error']));

  it.each<[string, (backend: Backend, pid: number) => unknown]>([
    ['because it was asked for', (backend) => backend.reconnect()],
    [
      'because it was killed',
      async (backend, pid) => {
        process.kill(pid, 'SIGKILL');
        await until('the loss was noticed', () => backend.status().state !== 'ready');
        // Nobody waits here for the pause that follows a crash.
        backend.reconnect();
      },
    ],
  ])(
    `leaves no process behind in ${CYCLES} cycles, %s`,
    async (_why, end) => {
      const before = descendantsOf(process.pid);
      const backend = startBackend();
      let pid = await nextPid(backend);
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        await end(backend, pid);
        pid = await nextPid(backend, pid);
      }
      expect(backend.status().restarts).toBe(CYCLES);
      expect(leftOver().length).toBeGreaterThan(0);
      await backend.stop();
      expect(leftOver()).toEqual([]);
      expect(descendantsOf(process.pid)).toEqual(before);
    },
    60_000,
  );
});
