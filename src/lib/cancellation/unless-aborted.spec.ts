import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { unlessAborted } from './unless-aborted.js';

const abortError = (): Error => new Error('aborted');

describe('unlessAborted', () => {
  it('settles as the promise does', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(signal, Promise.resolve(1), abortError)).resolves.toBe(1);
    await expect(unlessAborted(signal, Promise.reject(new Error('no')), abortError)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects when the signal aborts', async () => {
    const controller = new AbortController();
    const outcome = unlessAborted(controller.signal, new Promise(() => {}), abortError);
    controller.abort();
    await expect(outcome).rejects.toThrow('aborted');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('rejects when the signal is aborted already', async () => {
    await expect(unlessAborted(AbortSignal.abort(), new Promise(() => {}), abortError)).rejects.toThrow(
      'aborted',
    );
  });
});
