import { beforeEach, describe, expect, it } from '@jest/globals';
import { addWithinLimits, findReachedLimit, type SubscriptionLimits } from './subscription-limits.js';
import { SubscriptionTable, type NewSubscription } from './subscription-table.js';

const NONE: SubscriptionLimits = {
  perSubscriber: Infinity,
  perPrincipal: Infinity,
  perServer: Infinity,
  total: Infinity,
};

const wanted = (subscriber: string, uri: string, server = 'files', principal?: string): NewSubscription => ({
  subscriber,
  principal,
  server,
  uri,
});

describe('addWithinLimits', () => {
  let table: SubscriptionTable;

  beforeEach(() => {
    let last = 0;
    table = new SubscriptionTable(() => `${++last}`);
    addWithinLimits(table, wanted('anna', 'file:///a', 'files', 'key'), NONE, 1);
    addWithinLimits(table, wanted('anna', 'file:///b', 'files', 'key'), NONE, 1);
  });

  it.each([
    ['perSubscriber', wanted('anna', 'x', 'other', 'other'), wanted('ben', 'x', 'files', 'key')],
    ['perPrincipal', wanted('ben', 'x', 'other', 'key'), wanted('ben', 'x', 'files', 'other')],
    ['perPrincipal', wanted('ben', 'x', 'other', 'key'), wanted('ben', 'x', 'files')],
    ['perServer', wanted('ben', 'x', 'files', 'other'), wanted('anna', 'x', 'other', 'key')],
  ] as const)('refuses a subscription at the limit %s, and only there', (which, refused, granted) => {
    const limits = { ...NONE, [which]: 2 };
    expect(addWithinLimits(table, refused, limits, 1)).toEqual({ which, limit: 2 });
    expect(table.size).toBe(2);
    expect(addWithinLimits(table, granted, limits, 1)).toMatchObject({ isNew: true });
    expect(addWithinLimits(table, refused, { ...NONE, [which]: 4 }, 1)).toMatchObject({ isNew: true });
  });

  it('refuses a subscription when the total is reached', () => {
    expect(addWithinLimits(table, wanted('ben', 'x', 'other'), { ...NONE, total: 2 }, 1)).toEqual({
      which: 'total',
      limit: 2,
    });
    expect(addWithinLimits(table, wanted('ben', 'x', 'other'), { ...NONE, total: 3 }, 1)).toMatchObject({
      isNew: true,
    });
  });

  it('accepts a subscription at the limit that the subscriber already has', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    expect(findReachedLimit(table, wanted('anna', 'file:///a', 'files', 'key'), limits)).toBeUndefined();
    expect(addWithinLimits(table, wanted('anna', 'file:///a', 'files', 'key'), limits, 1)).toMatchObject({
      isNew: false,
    });
    expect(table.size).toBe(2);
  });

  it('accepts a subscription as soon as another one ended', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    const another = wanted('anna', 'file:///c', 'files', 'key');
    expect(findReachedLimit(table, another, limits)).toBeDefined();
    table.remove(wanted('anna', 'file:///a'));
    expect(findReachedLimit(table, another, limits)).toBeUndefined();
    expect(addWithinLimits(table, another, limits, 1)).toMatchObject({ isNew: true });
    expect(findReachedLimit(table, wanted('anna', 'file:///d', 'files', 'key'), limits)).toBeDefined();
  });

  it('refuses every subscription when the limit is zero', () => {
    expect(addWithinLimits(table, wanted('ben', 'x'), { ...NONE, perSubscriber: 0 }, 1)).toEqual({
      which: 'perSubscriber',
      limit: 0,
    });
  });
});
