import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { refusalOf } from '../../../test/kit/fake-link.js';
import { unlessAborted } from './unless-aborted.js';

describe('a wait that can be cancelled', () => {
  it('ends with what it waited for', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(signal, Promise.resolve(1))).resolves.toBe(1);
    expect((await refusalOf(unlessAborted(signal, Promise.reject(new Error('no'))))).message).toBe('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('ends when it is cancelled', async () => {
    const abortion = new AbortController();
    const refusal = refusalOf(unlessAborted(abortion.signal, new Promise(() => {})));
    abortion.abort();
    expect(await refusal).toMatchObject({ kind: 'cancelled' });
    expect(getEventListeners(abortion.signal, 'abort')).toEqual([]);
  });

  it('does not begin when it is cancelled already', async () => {
    expect(await refusalOf(unlessAborted(AbortSignal.abort(), new Promise(() => {})))).toMatchObject({
      kind: 'cancelled',
    });
  });
});
