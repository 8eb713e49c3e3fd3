import { describe, expect, it } from '@jest/globals';
import { LONGEST_AND_TOO_LONG } from '../../../test/kit/uri-lengths.js';
import { isTooLong } from './uri-length.js';

describe('the length of a URI', () => {
  it.each(LONGEST_AND_TOO_LONG)('counts in bytes, in %s', (_what, longest, tooLong) => {
    expect([isTooLong(longest), isTooLong(tooLong)]).toEqual([false, true]);
  });
});
