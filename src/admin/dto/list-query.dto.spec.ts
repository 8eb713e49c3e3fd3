import { describe, expect, it } from '@jest/globals';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { URIS_AT_THE_LIMIT } from '../../../test/kit/uri-lengths.js';
import { SubscriptionQuery } from './list-query.dto.js';

const refusals = (query: object): string[] =>
  validateSync(plainToInstance(SubscriptionQuery, query)).flatMap(({ constraints = {} }) =>
    Object.values(constraints),
  );

describe('SubscriptionQuery', () => {
  it.each(URIS_AT_THE_LIMIT)(
    'accepts a URI of the maximum length and refuses a longer one, in %s',
    (_what, longest, tooLong) => {
      expect(refusals({ uri: longest })).toEqual([]);
      expect(refusals({ uri: tooLong })).toEqual(['uri must not be longer than 8192 bytes']);
    },
  );

  it.each([{ uri: ['x:1'] }, { uri: 7 }])('refuses %j with a single message', (query) => {
    expect(refusals(query)).toEqual(['uri must be a string']);
  });

  it('accepts a query without a URI', () => {
    expect(refusals({})).toEqual([]);
  });
});
