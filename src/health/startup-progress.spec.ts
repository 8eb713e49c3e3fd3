import { describe, expect, it, jest } from '@jest/globals';
import { deferred, until } from '../../test/kit/until.js';
import type { Backends } from '../backends/backends.service.js';
import { StartupProgress } from './startup-progress.js';

const startupOf = (...servers: Promise<void>[]): StartupProgress => {
  const startup = new StartupProgress({
    all: () => servers.map((synced) => ({ whenSynced: () => synced })),
  } as unknown as Backends);
  startup.onApplicationBootstrap();
  return startup;
};

describe('StartupProgress', () => {
  it('is complete without servers', async () => {
    const startup = startupOf();
    expect(await until('it is complete', () => startup.isComplete)).toBe(true);
  });

  it('is complete after the first sync of every server', async () => {
    const [one, two] = [deferred(), deferred()];
    const startup = startupOf(one.promise, two.promise);
    one.resolve();
    await new Promise(setImmediate);
    expect(startup.isComplete).toBe(false);
    two.resolve();
    await until('it is complete', () => startup.isComplete);
  });

  it('waits for a server that hangs for 30 seconds', async () => {
    const whenSynced = jest.fn((_timeoutMs: number) => Promise.resolve());
    new StartupProgress({ all: () => [{ whenSynced }] } as unknown as Backends).onApplicationBootstrap();
    await until('the server is waited for', () => whenSynced.mock.calls.length > 0);
    expect(whenSynced).toHaveBeenCalledWith(30_000);
  });
});
