import { describe, expect, it } from '@jest/globals';
import { BackendHarness } from '../../test/kit/backend-harness.js';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { flushPromises } from '../../test/kit/promises.js';
import { TransportError } from './link/transport.js';

useFakeTime();

describe('Backend.status of a server that fails', () => {
  it('keeps the last failure with its stderr after a reconnect', async () => {
    const harness = await BackendHarness.ready();
    expect(harness.backend.status().lastFailure).toBeUndefined();
    harness.link.stderr.push(...Array.from({ length: 30 }, (_, index) => `line ${index}`));
    harness.link.disconnect(new TransportError('broken', 'exit code 1'));
    await flushPromises();
    const { downSince, nextAttemptAt } = harness.backend.status();
    expect(nextAttemptAt).toBeGreaterThan(downSince!);
    await advanceTime(1000);
    expect(harness.backend.status()).toMatchObject({
      state: 'ready',
      downSince: undefined,
      nextAttemptAt: undefined,
      stderr: [],
      lastFailure: { error: { message: 'exit code 1' }, stderr: expect.arrayContaining(['line 29']) },
    });
    expect(harness.backend.status().lastFailure!.stderr).toHaveLength(20);
  });

  it('says how long it waits for initialize, and why the attempt before failed', async () => {
    const harness = await BackendHarness.ready();
    harness.connect = () => new Promise(() => {});
    harness.link.disconnect(new TransportError('broken', 'exit code 1'));
    await advanceTime(1000);
    expect(harness.backend.status()).toMatchObject({ state: 'connecting', reason: 'exit code 1' });
    await advanceTime(44_000);
    expect(harness.backend.status().reason).toMatch(/^waiting 44 s for initialize; before: exit code 1$/);
  });
});
