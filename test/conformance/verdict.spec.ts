import { describe, expect, it } from '@jest/globals';
import { differences, explain, judge, verdictOf, type Check, type Result } from './verdict.mjs';

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

const answer = (resultType?: string): Check => ({
  id: 'a',
  status: 'SUCCESS',
  details: { result: { ...(resultType && { resultType }) } },
});
const error: Check = { id: 'a', status: 'SUCCESS', details: { error: {} } };
const of = (...checks: Check[]): Result => ({ checks, output: '' });

describe('differences', () => {
  it.each<[string, Result | undefined, Result, string[]]>([
    ['equal results', result('SUCCESS', 'FAILURE'), result('SUCCESS', 'FAILURE'), []],
    ['a check that fails', result('SUCCESS', 'FAILURE'), result('SUCCESS', 'SUCCESS'), ['b']],
    ['a check that succeeds although it fails directly', result('SUCCESS'), result('FAILURE'), []],
    [
      'a scenario that fails directly, in another check',
      result('FAILURE', 'FAILURE'),
      result('FAILURE', 'SUCCESS'),
      ['b'],
    ],
    ['a scenario that did not run', undefined, result('SUCCESS', 'SUCCESS'), ['a', 'b']],
    ['a check that warns where nothing is checked directly', result('WARNING'), result('SKIPPED'), ['a']],
    ['a check that succeeds fewer times', of(error), of(error, error), ['a']],
    [
      'a check that succeeds once and fails once',
      of(error, { id: 'a', status: 'FAILURE' }),
      of(error),
      ['a'],
    ],
    ['an error in place of a result', of(error), of(answer()), ['a']],
    ['a complete result in place of a question', of(answer('complete')), of(answer('input_required')), ['a']],
    ['a complete result without a type', of(answer()), of(answer('complete')), []],
    [
      'a check of another name',
      of({ id: 'a', name: 'one', status: 'SUCCESS' }),
      of({ id: 'a', name: 'two', status: 'SUCCESS' }),
      ['a'],
    ],
    [
      'an exit code',
      { ...result('SUCCESS'), exitCode: 1 },
      { ...result('SUCCESS'), exitCode: 0 },
      ['exit code'],
    ],
  ])('lists the checks that differ in %s', (_case, found, direct, ids) => {
    expect(differences(found, direct)).toEqual(ids);
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

describe('judge with known differences', () => {
  const direct = lane(result('SUCCESS', 'SUCCESS'));
  const known = { one: { checks: ['b'], reason: 'because' } };

  it.each<[string, Result | undefined, boolean]>([
    ['differs as expected', result('SUCCESS', 'FAILURE'), true],
    ['passes', result('SUCCESS', 'SUCCESS'), false],
    ['differs in another check', result('FAILURE', 'SUCCESS'), false],
    ['differs in one more check', result('FAILURE', 'FAILURE'), false],
    ['did not run', undefined, false],
  ])(
    'accepts a scenario only if it differs in exactly the known checks: one that %s',
    (_case, found, isAccepted) => {
      const required = judge({ required: ['one'], reported: [] }, lane(found), direct, known);
      const reported = judge({ required: [], reported: ['one'] }, lane(found), direct, known);
      expect(required.failed).toEqual(isAccepted ? [] : ['one']);
      expect(required.known).toEqual(isAccepted ? ['one'] : []);
      expect(reported.failed).toEqual(isAccepted ? [] : ['one']);
    },
  );

  it('does not count a known difference as passed', () => {
    const found = lane(result('SUCCESS', 'FAILURE'));
    expect(judge({ required: ['one'], reported: [] }, found, direct, known).passed).toEqual([]);
  });

  it('fails a known difference of a scenario that the suite does not have', () => {
    expect(judge({ required: [], reported: [] }, new Map(), direct, known).failed).toEqual(['one']);
  });
});

describe('explain', () => {
  it('prints the checks that failed, or else the output of the suite', () => {
    expect(explain(result('SUCCESS', 'FAILURE'))).toContain('FAILURE b');
    expect(explain(result('SUCCESS'))).toBe('output of the suite');
    expect(explain(undefined)).toBe('the suite did not run it');
    expect(explain(result('SUCCESS'), result('SUCCESS', 'SUCCESS'))).toContain('in b');
  });
});
