import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { AdminHarness } from '../../test/kit/admin-harness.js';
import { Metrics } from '../metrics/metrics.js';
import { AdminProblem } from './admin-problem.js';
import { RefusalBudget } from './refusal-budget.js';

describe('RefusalBudget', () => {
  let metrics: Metrics;
  let budget: RefusalBudget;
  beforeEach(() => {
    metrics = new Metrics(new Registry());
    budget = new RefusalBudget(metrics);
  });

  const takeOften = (times: number, now: number): (number | undefined)[] =>
    Array.from({ length: times }, () => budget.take('admin', now));

  it('records 100 refusals at once and counts the others', async () => {
    expect(takeOften(130, 0)).toEqual([...Array<number>(100).fill(0), ...Array(30)]);
    expect(await metrics.text()).toContain('gatehouse_audit_refusals_suppressed_total 30\n');
  });

  it('records one more in ten seconds, with the number of those in between', () => {
    takeOften(105, 0);
    expect(takeOften(1, 9999)).toEqual([undefined]);
    expect(takeOften(2, 10_000)).toEqual([6, undefined]);
    expect(takeOften(3, 30_000)).toEqual([1, 0, undefined]);
  });

  it('saves at most 100 refusals for later', () => {
    takeOften(1, 0);
    expect(takeOften(101, 1e9)).toEqual([...Array<number>(100).fill(0), undefined]);
  });

  it('is separate for administrators and viewers', () => {
    takeOften(101, 0);
    expect(budget.take('viewer', 0)).toBe(0);
  });
});

describe('recordRefusal', () => {
  it('writes a bounded number of entries, with the number of those that are missing', async () => {
    const harness = new AdminHarness();
    const { actor, requestId } = harness.caller();
    const refuse = (kind: AdminProblem['kind'], target = '/admin/v1/servers/x'): Promise<void> =>
      harness.adminActions.recordRefusal(
        { actor, requestId },
        { action: 'PUT', target },
        new AdminProblem(kind, ''),
      );
    for (let n = 0; n < 150; n++) await refuse('malformed', `/${'x'.repeat(10_000)}`);
    expect(harness.entries).toHaveLength(100);
    expect(harness.entries.at(-1)!.target).toHaveLength(201);
    await refuse('internal');
    expect(harness.entries).toHaveLength(100);
  });

  it('records a problem once', async () => {
    const harness = new AdminHarness();
    const caller = harness.caller();
    const refused = harness.servers.remove(caller, 'none');
    const problem = await refused.catch((error: AdminProblem) => error);
    await harness.adminActions.recordRefusal(caller, { action: 'DELETE', target: '/x' }, problem!);
    expect(harness.actions).toEqual(['server.delete none refused']);
  });
});
