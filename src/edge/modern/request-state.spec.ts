import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fc from 'fast-check';
import { RandomCursorKey } from '../../state/random-cursor-key.js';
import { RequestStates } from './request-state.js';

const DIGEST = Buffer.alloc(32, 1);
const ROUND = { call: '7b1f', round: 2 };

const states = new RequestStates(new RandomCursorKey());
const seal = (ms = 60_000): string => states.seal({ ...ROUND, expiresAt: Date.now() + ms }, DIGEST);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('RequestStates', () => {
  it('opens a state that it has sealed for the same request', () => {
    expect(states.isOwn(seal())).toBe(true);
    expect(states.open(seal(), DIGEST)).toEqual({ ...ROUND, expiresAt: Date.now() + 60_000 });
  });

  it('does not contain more than the call needs', () => {
    expect(seal().length).toBeLessThan(150);
  });

  it.each([
    [
      'a byte changed',
      (state: string) => `${state.slice(0, -3)}${state.at(-3) === 'A' ? 'B' : 'A'}${state.slice(-2)}`,
    ],
    ['a byte added', (state: string) => `${state}A`],
    ['the end cut off', (state: string) => state.slice(0, -4)],
    ['nothing but the process', (state: string) => state.slice(0, state.indexOf('.', 10) + 1)],
    ['padding', (state: string) => `${state}==`],
    ['any length', (state: string) => state + 'A'.repeat(1000)],
  ])('refuses a state with %s', (_, change) => {
    const changed = change(seal());
    expect(states.isOwn(changed)).toBe(true);
    expect(() => states.open(changed, DIGEST)).toThrow(
      expect.objectContaining({
        kind: 'invalid-params',
        message: expect.stringMatching(
          /was changed.* Repeat the request without requestState and inputResponses/,
        ),
      }),
    );
  });

  it('refuses any other text after the name of the process', () => {
    const prefix = seal().slice(0, seal().indexOf('.', 10) + 1);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => states.open(prefix + text, DIGEST)).toThrow(/^Invalid requestState/);
      }),
    );
  });

  it('refuses a state of another request', () => {
    expect(() => states.open(seal(), Buffer.alloc(32, 2))).toThrow('issued for another request or principal');
  });

  it('refuses a state that has expired', () => {
    const state = seal(1000);
    jest.advanceTimersByTime(999);
    expect(states.open(state, DIGEST)).toMatchObject(ROUND);
    jest.advanceTimersByTime(1);
    expect(() => states.open(state, DIGEST)).toThrow('not answered in time');
  });

  it('does not recognise the state of another process, or of a server', () => {
    const other = new RequestStates(new RandomCursorKey());
    expect(other.isOwn(seal())).toBe(false);
    expect(other.isOwn('opaque')).toBe(false);
  });
});
