import { describe, expect, it } from '@jest/globals';
import { Waiters } from './waiters.js';

describe('Waiters', () => {
  it('resolves every promise so far, and later ones at the next event', async () => {
    const waiters = new Waiters();
    const resolved: string[] = [];
    const wait = (name: string): Promise<unknown> => waiters.wait().then(() => resolved.push(name));
    const first = [wait('a'), wait('b')];
    waiters.release();
    const later = wait('c');
    await Promise.all(first);
    expect(resolved).toEqual(['a', 'b']);
    waiters.release();
    await later;
    expect(resolved).toEqual(['a', 'b', 'c']);
  });
});
