import { beforeEach, describe, expect, it } from '@jest/globals';
import { addWithinLimits, findReachedLimit, type SubscriptionLimits } from './subscription-limits.js';
import { SubscriptionTable, type NewSubscription } from './subscription-table.js';

const NONE: SubscriptionLimits = {
  perSubscriber: Infinity,
  perPrincipal: Infinity,
  perServer: Infinity,
  total: Infinity,
};

const asked = (subscriber: string, uri: string, server = 'files', principal?: string): NewSubscription => ({
  subscriber,
  principal,
  server,
  uri,
});

describe('a claim', () => {
  let table: SubscriptionTable;

  beforeEach(() => {
    let last = 0;
    table = new SubscriptionTable(() => `${++last}`);
    addWithinLimits(table, asked('anna', 'file:///a', 'files', 'key'), NONE, 1);
    addWithinLimits(table, asked('anna', 'file:///b', 'files', 'key'), NONE, 1);
  });

  it.each([
    ['perSubscriber', asked('anna', 'x', 'other', 'other'), asked('ben', 'x', 'files', 'key')],
    ['perPrincipal', asked('ben', 'x', 'other', 'key'), asked('ben', 'x', 'files', 'other')],
    ['perPrincipal', asked('ben', 'x', 'other', 'key'), asked('ben', 'x', 'files')],
    ['perServer', asked('ben', 'x', 'files', 'other'), asked('anna', 'x', 'other', 'key')],
  ] as const)('is refused at the limit %s, and only there', (which, refused, granted) => {
    const limits = { ...NONE, [which]: 2 };
    expect(addWithinLimits(table, refused, limits, 1)).toEqual({ which, limit: 2 });
    expect(table.size).toBe(2);
    expect(addWithinLimits(table, granted, limits, 1)).toMatchObject({ isNew: true });
    expect(addWithinLimits(table, refused, { ...NONE, [which]: 4 }, 1)).toMatchObject({ isNew: true });
  });

  it('is refused when there are as many as there may be in total', () => {
    expect(addWithinLimits(table, asked('ben', 'x', 'other'), { ...NONE, total: 2 }, 1)).toEqual({
      which: 'total',
      limit: 2,
    });
    expect(addWithinLimits(table, asked('ben', 'x', 'other'), { ...NONE, total: 3 }, 1)).toMatchObject({
      isNew: true,
    });
  });

  it('is granted again at the limit, for what is claimed already', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    expect(findReachedLimit(table, asked('anna', 'file:///a', 'files', 'key'), limits)).toBeUndefined();
    expect(addWithinLimits(table, asked('anna', 'file:///a', 'files', 'key'), limits, 1)).toMatchObject({
      isNew: false,
    });
    expect(table.size).toBe(2);
  });

  it('is granted as soon as a place is free', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    const another = asked('anna', 'file:///c', 'files', 'key');
    expect(findReachedLimit(table, another, limits)).toBeDefined();
    table.remove(asked('anna', 'file:///a'));
    expect(findReachedLimit(table, another, limits)).toBeUndefined();
    expect(addWithinLimits(table, another, limits, 1)).toMatchObject({ isNew: true });
    expect(findReachedLimit(table, asked('anna', 'file:///d', 'files', 'key'), limits)).toBeDefined();
  });

  it('is never granted where nothing is allowed', () => {
    expect(addWithinLimits(table, asked('ben', 'x'), { ...NONE, perSubscriber: 0 }, 1)).toEqual({
      which: 'perSubscriber',
      limit: 0,
    });
  });
});
