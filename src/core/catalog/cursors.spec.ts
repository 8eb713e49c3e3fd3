import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Cursors } from './cursors.js';

const cursors = new Cursors(Buffer.alloc(32, 7));

const text = fc.string({ unit: 'binary', maxLength: 40 });
const list = fc.oneof(fc.constantFrom('tools\0*', 'prompts\0*', 'tools\0payments'), text);

const refused = expect.objectContaining({
  kind: 'invalid-params',
  message: 'Invalid cursor: start again from the first page',
});

describe('Cursors', () => {
  it('returns the position of a cursor that it signed', () => {
    fc.assert(
      fc.property(list, text, (of, position) => {
        expect(cursors.verify(of, cursors.sign(of, position))).toBe(position);
      }),
    );
  });

  it('makes cursors that need no escaping in a URL or in JSON', () => {
    fc.assert(
      fc.property(list, text, (of, position) => {
        expect(cursors.sign(of, position)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('signs with 16 bytes', () => {
    expect(Buffer.from(cursors.sign('tools', ''), 'base64url')).toHaveLength(16);
  });

  it('refuses a cursor that is longer than any list needs, even if it is genuine', () => {
    expect(() => cursors.verify('tools', cursors.sign('tools', 'x'.repeat(32_768)))).toThrow(refused);
  });

  it('signs the same position to the same cursor, so that pages can be cached', () => {
    expect(cursors.sign('tools', 'a')).toBe(cursors.sign('tools', 'a'));
  });

  it('refuses a cursor of another list or scope', () => {
    fc.assert(
      fc.property(list, list, text, (of, other, position) => {
        fc.pre(of !== other);
        const cursor = cursors.sign(of, position);
        expect(() => cursors.verify(other, cursor)).toThrow(refused);
      }),
    );
  });

  it('refuses a cursor of a list whose name continues into the position', () => {
    const bytes = Buffer.from(cursors.sign('tools', 'a\0b'), 'base64url');
    const forged = Buffer.concat([bytes.subarray(0, 16), Buffer.from('b')]).toString('base64url');
    expect(() => cursors.verify('tools\0a', forged)).toThrow(refused);
  });

  it('refuses a cursor that was signed with another key', () => {
    const cursor = new Cursors(randomBytes(32)).sign('tools', 'a');
    expect(() => cursors.verify('tools', cursor)).toThrow(refused);
  });

  it('refuses a cursor with any bit flipped', () => {
    fc.assert(
      fc.property(list, text, fc.nat(), (of, position, nth) => {
        const bytes = Buffer.from(cursors.sign(of, position), 'base64url');
        const bit = nth % (bytes.length * 8);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        expect(() => cursors.verify(of, bytes.toString('base64url'))).toThrow(refused);
      }),
    );
  });

  it('refuses a cursor with any character changed, added or removed', () => {
    const characters = ['A', 'B', 'z', '0', '-', '_', '+', '/', '=', ' ', '\n', '\0', 'é', ''];
    fc.assert(
      fc.property(
        text,
        fc.nat(),
        fc.constantFrom(...characters),
        fc.nat(1),
        (position, nth, character, cut) => {
          const cursor = cursors.sign('tools', position);
          const at = nth % (cursor.length + 1);
          const changed = cursor.slice(0, at) + character + cursor.slice(at + cut);
          fc.pre(changed !== cursor);
          expect(() => cursors.verify('tools', changed)).toThrow(refused);
        },
      ),
    );
  });

  it.each([
    ['empty', ''],
    ['shorter than a signature', 'AAAA'],
    ['a signature of zeros', Buffer.alloc(16).toString('base64url')],
    ['too long', 'A'.repeat(16_385)],
    ['null', null],
    ['a number', 5],
    ['an object', { toString: () => 'a' }],
    ['a list', ['a']],
  ])('refuses a cursor that is %s', (_what, cursor) => {
    expect(() => cursors.verify('tools', cursor)).toThrow(refused);
  });
});
