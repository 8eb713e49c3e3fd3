import { describe, expect, it } from '@jest/globals';
import { Cursors } from '../../src/core/catalog/cursors.js';
import type { CursorKey } from '../../src/state/cursor-key.js';

/** The contract of a CursorKey. `open` returns the key as one gateway process has it. */
export const cursorKeyContract = (adapter: string, open: () => CursorKey): void => {
  describe(`${adapter} as CursorKey`, () => {
    it('derives 32 bytes, the same for the same purpose', () => {
      const key = open();
      const derived = key.derive('lists');
      expect(derived).toHaveLength(32);
      expect(key.derive('lists')).toEqual(derived);
    });

    it('derives different keys for different purposes', () => {
      const key = open();
      const purposes = ['', 'a', 'ab', 'b', 'lists', 'Lists', 'lists\0', 'lists ü'];
      expect(new Set(purposes.map((purpose) => key.derive(purpose).toString('hex'))).size).toBe(
        purposes.length,
      );
    });

    it('returns a copy: changing a derived key does not change the next one', () => {
      const key = open();
      const before = Buffer.from(key.derive('lists'));
      key.derive('lists').fill(0);
      expect(key.derive('lists')).toEqual(before);
    });

    it('signs cursors that are valid for their purpose only', () => {
      const key = open();
      const cursor = new Cursors(key.derive('lists')).sign('tools', 'a');
      expect(new Cursors(key.derive('lists')).verify('tools', cursor)).toBe('a');
      expect(() => new Cursors(key.derive('other lists')).verify('tools', cursor)).toThrow('Invalid cursor');
    });
  });
};
