import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { LONGEST_AND_TOO_LONG } from '../../test/kit/uri-lengths.js';
import { SubscriptionQuery } from './subscription-query.js';

const refusals = (query: object): string[] =>
  validateSync(plainToInstance(SubscriptionQuery, query)).flatMap(({ constraints = {} }) =>
    Object.values(constraints),
  );

describe('SubscriptionQuery', () => {
  it.each(LONGEST_AND_TOO_LONG)(
    'takes a URI that can be subscribed to, and no longer one, in %s',
    (_what, longest, tooLong) => {
      expect(refusals({ uri: longest })).toEqual([]);
      expect(refusals({ uri: tooLong })).toEqual(['uri must not be longer than 8192 bytes']);
    },
  );

  it.each([{ uri: ['x:1'] }, { uri: 7 }])('refuses what is no string, in one word: %j', (query) => {
    expect(refusals(query)).toEqual(['uri must be a string']);
  });

  it('takes no URI at all', () => {
    expect(refusals({})).toEqual([]);
  });
});
