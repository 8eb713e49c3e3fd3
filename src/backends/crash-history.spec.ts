import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { CrashHistory } from './crash-history.js';

/** Whether ends at these times, in seconds, are a loop at the time of the last one. */
function isLoop(...seconds: number[]): boolean {
  let now = 0;
  const history = new CrashHistory(() => now);
  for (const second of seconds) {
    now = second * 1000;
    history.record();
  }
  return history.isLoop;
}

describe('a history of crashes', () => {
  it.each([
    [[], false],
    [[0, 1, 2, 3], false],
    [[0, 1, 2, 3, 4], true],
    [[0, 0, 0, 0, 0], true],
    [[0, 1, 2, 3, 59.9], true],
    [[0, 1, 2, 3, 60], false],
    [[0, 1, 2, 3, 60, 60.5], true],
    [[0, 30, 60, 90, 120, 150], false],
  ])('of ends at %j seconds is a loop: %s', (seconds, expected) => {
    expect(isLoop(...seconds)).toBe(expected);
  });

  it('is a loop no more when a minute has passed', () => {
    let now = 0;
    const history = new CrashHistory(() => now);
    for (let n = 0; n < 5; n++) history.record();
    now = 59_999;
    expect(history.isLoop).toBe(true);
    now = 60_000;
    expect(history.isLoop).toBe(false);
  });

  it('is a loop exactly when the last five ends lie within a minute', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 20 }), (gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        const lastFive = times.slice(-5);
        expect(isLoop(...times)).toBe(lastFive.length === 5 && lastFive[4]! - lastFive[0]! < 60);
      }),
    );
  });
});
