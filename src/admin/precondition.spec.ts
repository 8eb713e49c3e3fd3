import { describe, expect, it } from '@jest/globals';
import { AdminProblem } from './admin-problem.js';
import { Precondition } from './precondition.js';

function holdsFor(precondition: Precondition, etag: string | undefined): boolean {
  try {
    precondition.require(etag);
    return true;
  } catch (error) {
    if (error instanceof AdminProblem && error.kind === 'precondition-failed') return false;
    throw error;
  }
}

describe('Precondition', () => {
  it.each<[string | undefined, string | undefined, string | undefined, boolean]>([
    [undefined, undefined, '"a"', true],
    [undefined, undefined, undefined, true],
    ['"a"', undefined, '"a"', true],
    ['"b", "a"', undefined, '"a"', true],
    ['*', undefined, '"a"', true],
    ['*', undefined, undefined, false],
    ['"a"', undefined, undefined, false],
    ['"b"', undefined, '"a"', false],
    ['W/"a"', undefined, '"a"', false],
    ['a', undefined, '"a"', false],
    ['', undefined, '"a"', false],
    [undefined, '*', undefined, true],
    [undefined, '*', '"a"', false],
    [undefined, '"a"', '"a"', false],
    [undefined, '"b"', '"a"', true],
  ])('with If-Match %s and If-None-Match %s holds for the tag %s: %s', (match, noneMatch, etag, holds) => {
    expect(holdsFor(new Precondition(match, noneMatch), etag)).toBe(holds);
  });
});
