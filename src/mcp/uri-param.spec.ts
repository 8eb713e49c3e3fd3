import { describe, expect, it } from '@jest/globals';
import { requireUri } from './uri-param.js';

describe('requireUri', () => {
  it.each(['', 'x:1', 'x'.repeat(8192)])('takes %j as it is', (uri) => {
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

  it.each(['x'.repeat(8193), 'é'.repeat(4097)])(
    'refuses one that is too long, without repeating it',
    (uri) => {
      expect(() => requireUri({ uri })).toThrow(
        expect.objectContaining({
          kind: 'invalid-params',
          message: 'uri must not be longer than 8192 bytes',
        }),
      );
    },
  );
});
