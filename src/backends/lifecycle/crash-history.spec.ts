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
    [[0, 1, 2, 3, 4, 34, 64, 94, 124, 3600], true],
  ])('of ends at %j seconds is a loop: %s', (seconds, expected) => {
    expect(isLoop(...seconds)).toBe(expected);
  });

  it('is a loop from the first five ends within a minute on, however far apart the others are', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 20 }), (gaps) => {
        let now = 0;
        const times = gaps.map((gap) => (now += gap));
        const began = times.some((time, index) => index >= 4 && time - times[index - 4]! < 60);
        expect(isLoop(...times)).toBe(began);
      }),
    );
  });

  it('is a loop no more once a link held, and the ends before that count no more', () => {
    const history = new CrashHistory(() => 0);
    for (let n = 0; n < 5; n++) history.record();
    history.held();
    expect(history.isLoop).toBe(false);
    for (let n = 0; n < 4; n++) history.record();
    expect(history.isLoop).toBe(false);
    history.record();
    expect(history.isLoop).toBe(true);
  });

  it('counts every end of a minute until there is a loop, also that of a link that held', () => {
    const history = new CrashHistory(() => 0);
    for (let n = 0; n < 5; n++) {
      history.held();
      history.record();
    }
    expect(history.isLoop).toBe(true);
  });

  it('is empty after it was forgotten', () => {
    const history = new CrashHistory(() => 0);
    for (let n = 0; n < 5; n++) history.record();
    history.forget();
    history.record();
    expect(history.isLoop).toBe(false);
  });
});
