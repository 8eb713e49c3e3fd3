import { beforeEach, describe, expect, it } from '@jest/globals';
import { claim, limitReached, type SubscriptionLimits } from './quota.js';
import { SubscriptionTable, type Asked } from './subscription-table.js';

const NONE: SubscriptionLimits = {
  perSubscriber: Infinity,
  perPrincipal: Infinity,
  perServer: Infinity,
  total: Infinity,
};

const asked = (subscriber: string, uri: string, server = 'files', principal?: string): Asked => ({
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
    claim(table, asked('anna', 'file:///a', 'files', 'key'), NONE, 1);
    claim(table, asked('anna', 'file:///b', 'files', 'key'), NONE, 1);
  });

  it.each([
    ['perSubscriber', asked('anna', 'x', 'other', 'other'), asked('ben', 'x', 'files', 'key')],
    ['perPrincipal', asked('ben', 'x', 'other', 'key'), asked('ben', 'x', 'files', 'other')],
    ['perPrincipal', asked('ben', 'x', 'other', 'key'), asked('ben', 'x', 'files')],
    ['perServer', asked('ben', 'x', 'files', 'other'), asked('anna', 'x', 'other', 'key')],
  ] as const)('is refused at the limit %s, and only there', (which, refused, granted) => {
    const limits = { ...NONE, [which]: 2 };
    expect(claim(table, refused, limits, 1)).toEqual({ which, limit: 2 });
    expect(table.size).toBe(2);
    expect(claim(table, granted, limits, 1)).toMatchObject({ isNew: true });
    expect(claim(table, refused, { ...NONE, [which]: 4 }, 1)).toMatchObject({ isNew: true });
  });

  it('is refused when there are as many as there may be in total', () => {
    expect(claim(table, asked('ben', 'x', 'other'), { ...NONE, total: 2 }, 1)).toEqual({
      which: 'total',
      limit: 2,
    });
    expect(claim(table, asked('ben', 'x', 'other'), { ...NONE, total: 3 }, 1)).toMatchObject({ isNew: true });
  });

  it('is granted again at the limit, for what is claimed already', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    expect(limitReached(table, asked('anna', 'file:///a', 'files', 'key'), limits)).toBeUndefined();
    expect(claim(table, asked('anna', 'file:///a', 'files', 'key'), limits, 1)).toMatchObject({
      isNew: false,
    });
    expect(table.size).toBe(2);
  });

  it('is granted as soon as a place is free', () => {
    const limits = { perSubscriber: 2, perPrincipal: 2, perServer: 2, total: 2 };
    const another = asked('anna', 'file:///c', 'files', 'key');
    expect(limitReached(table, another, limits)).toBeDefined();
    table.remove(asked('anna', 'file:///a'));
    expect(limitReached(table, another, limits)).toBeUndefined();
    expect(claim(table, another, limits, 1)).toMatchObject({ isNew: true });
    expect(limitReached(table, asked('anna', 'file:///d', 'files', 'key'), limits)).toBeDefined();
  });

  it('is never granted where nothing is allowed', () => {
    expect(claim(table, asked('ben', 'x'), { ...NONE, perSubscriber: 0 }, 1)).toEqual({
      which: 'perSubscriber',
      limit: 0,
    });
  });
});
