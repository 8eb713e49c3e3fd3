import { describe, expect, it } from '@jest/globals';
import { explain, judge, verdictOf, type Check, type Result } from './verdict.mjs';

/** The result of a scenario with checks a, b, … of these statuses. */
const result = (...statuses: Check['status'][]): Result => ({
  checks: statuses.map((status, index) => ({ id: 'abc'[index]!, status })),
  output: 'output of the suite',
});

/** A lane of one scenario. */
const lane = (found: Result | undefined): Map<string, Result> => new Map(found ? [['one', found]] : []);

describe('verdictOf', () => {
  it.each<[Result | undefined, string]>([
    [result('SUCCESS'), 'passed'],
    [result('INFO', 'SUCCESS', 'SKIPPED'), 'passed'],
    [result('INFO'), 'not applicable'],
    [result('SUCCESS', 'FAILURE'), 'failed'],
    [result('SUCCESS', 'WARNING'), 'failed'],
    [{ ...result('SUCCESS'), exitCode: 1 }, 'failed'],
    [{ ...result('SUCCESS'), exitCode: 0 }, 'passed'],
    [result(), 'failed'],
    [undefined, 'failed'],
  ])('of %j is %s', (found, verdict) => {
    expect(verdictOf(found)).toBe(verdict);
  });
});

describe('judge', () => {
  const direct = lane(result('SUCCESS', 'SUCCESS'));

  it.each<[string, Result | undefined, boolean, boolean]>([
    ['succeeds in every check', result('SUCCESS', 'SUCCESS'), true, true],
    ['has a check that does not apply', result('SUCCESS', 'INFO'), true, true],
    ['lacks a check', result('SUCCESS'), false, false],
    ['skips a check', result('SUCCESS', 'SKIPPED'), false, false],
    ['fails', result('SUCCESS', 'FAILURE'), false, false],
    ['did not run', undefined, false, false],
    ['does not apply', result('INFO', 'INFO'), false, true],
  ])('compares a scenario that %s with the direct lane', (_case, found, ifRequired, ifReported) => {
    const required = judge({ required: ['one'], reported: [] }, lane(found), direct);
    const reported = judge({ required: [], reported: ['one'] }, lane(found), direct);
    expect(required).toMatchObject(ifRequired ? { passed: ['one'], failed: [] } : { failed: ['one'] });
    expect(reported.failed).toEqual(ifReported ? [] : ['one']);
  });

  it('accepts a reported scenario that fails in the direct lane too', () => {
    const failing = lane(result('FAILURE'));
    expect(judge({ required: [], reported: ['one'] }, failing, failing).failed).toEqual([]);
  });
});

describe('explain', () => {
  it('prints the checks that failed, or else the output of the suite', () => {
    expect(explain(result('SUCCESS', 'FAILURE'))).toContain('FAILURE b');
    expect(explain(result('SUCCESS'))).toBe('output of the suite');
    expect(explain(undefined)).toBe('the suite did not run it');
  });
});
