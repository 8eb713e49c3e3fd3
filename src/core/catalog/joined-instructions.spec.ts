import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { joinInstructions } from './joined-instructions.js';

const part = (server: string, text: string) => ({ server, text });

describe('joinInstructions', () => {
  it('puts each text under a heading with the id of its server', () => {
    expect(joinInstructions([part('a', 'Use a.'), part('b', 'Use b.')], 8192)).toEqual({
      text: '# a\n\nUse a.\n\n# b\n\nUse b.',
      isCut: false,
    });
  });

  it('cuts only the texts above an equal share of the limit', () => {
    const { text, isCut } = joinInstructions(
      [part('long', 'x'.repeat(10_000)), part('short', 'kept'), part('longer', 'y'.repeat(1_000_000))],
      1000,
    );
    expect(isCut).toBe(true);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
    expect(text).toMatch(/^# long\n\nx{400,}…\n\n# short\n\nkept\n\n# longer\n\ny{400,}…$/);
  });

  it('leaves out the last servers when a share would be too short to be of use', () => {
    const parts = Array.from({ length: 1000 }, (_, i) => part(`server-${i}`, 'x'.repeat(200)));
    const { text, isCut } = joinInstructions(parts, 8192);
    expect(isCut).toBe(true);
    expect(text.match(/# server-/g)).toHaveLength(60);
    expect(text).toContain('# server-0\n');
  });

  it('is empty when the limit is 0', () => {
    expect(joinInstructions([part('a', 'Use a.')], 0)).toEqual({ text: '', isCut: true });
  });

  it('never exceeds the limit, nor cuts within a character', () => {
    const parts = fc.array(
      fc.record({
        server: fc.stringMatching(/^[a-z]{1,64}$/),
        text: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes('\ufffd')),
      }),
    );
    fc.assert(
      fc.property(parts, fc.integer({ min: 0, max: 1000 }), (given, maxBytes) => {
        const { text, isCut } = joinInstructions(given, maxBytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
        expect(text).not.toContain('\ufffd');
        const isComplete = given.every((one) => text.includes(one.text));
        expect(isCut || isComplete).toBe(true);
      }),
    );
  });
});
