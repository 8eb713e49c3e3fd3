import { describe, expect, it } from '@jest/globals';
import { LONGEST_AND_TOO_LONG } from '../../test/kit/uri-lengths.js';
import { requireUri } from './uri-param.js';

describe('requireUri', () => {
  it.each(['', 'x:1'])('takes %j as it is', (uri) => {
    expect(requireUri({ uri })).toBe(uri);
  });

  it.each([undefined, {}, { uri: undefined }, { uri: null }, { uri: 7 }, { uri: ['x:1'] }, { URI: 'x:1' }])(
    'refuses params without one: %j',
    (params) => {
      expect(() => requireUri(params)).toThrow(
        expect.objectContaining({ kind: 'invalid-params', message: 'uri must be a string' }),
      );
    },
  );

  it.each(LONGEST_AND_TOO_LONG)(
    'refuses one that is too long, without repeating it, in %s',
    (_what, longest, tooLong) => {
      expect(requireUri({ uri: longest })).toBe(longest);
      expect(() => requireUri({ uri: tooLong })).toThrow(
        expect.objectContaining({
          kind: 'invalid-params',
          message: 'uri must not be longer than 8192 bytes',
        }),
      );
    },
  );
});
