import { describe, expect, it } from '@jest/globals';
import { cursorKeyContract } from '../../test/contract/cursor-key.contract.js';
import { RandomCursorKey } from './random-cursor-key.js';

cursorKeyContract('RandomCursorKey', () => new RandomCursorKey());

describe('RandomCursorKey', () => {
  it('differs from the key of another process', () => {
    expect(new RandomCursorKey().derive('lists')).not.toEqual(new RandomCursorKey().derive('lists'));
  });
});
