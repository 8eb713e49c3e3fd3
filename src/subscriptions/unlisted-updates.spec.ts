import { beforeEach, describe, expect, it } from '@jest/globals';
import { advanceTime, useFakeTime } from '../../test/kit/fake-time.js';
import { ResourceUpdate } from './resource-update.js';
import { UnlistedUpdates } from './unlisted-updates.js';

const updateOf = (uri: string): ResourceUpdate =>
  new ResourceUpdate('s', uri, undefined, { size: 0, params: String, publicUri: () => uri });

describe('UnlistedUpdates', () => {
  useFakeTime();
  let isListed: boolean;
  let released: ResourceUpdate[];
  let updates: UnlistedUpdates;

  beforeEach(() => {
    isListed = false;
    released = [];
    updates = new UnlistedUpdates(
      () => isListed,
      (update) => released.push(update),
    );
  });

  it('holds the latest update of each resource until the server has listed', () => {
    const [first, second, other] = [updateOf('x:1'), updateOf('x:1'), updateOf('x:2')];
    for (const update of [first, second, other]) expect(updates.hold(update)).toBe(true);
    updates.releaseIfListed('s');
    expect(released).toEqual([]);
    isListed = true;
    updates.releaseIfListed('s');
    expect(released).toEqual([second, other]);
    expect(updates.hold(first)).toBe(false);
  });

  it('releases updates after ten seconds if the server does not list', async () => {
    updates.hold(updateOf('x:1'));
    await advanceTime(9999);
    expect(released).toHaveLength(0);
    await advanceTime(1);
    expect(released).toHaveLength(1);
  });
});
