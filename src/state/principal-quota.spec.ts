import { describe, expect, it } from '@jest/globals';
import { MemoryQuotas } from './memory-quotas.js';
import { PrincipalQuota } from './principal-quota.js';

const LIMIT = { name: 'sessions', limit: 2, noun: 'open sessions' };

describe('PrincipalQuota', () => {
  it('grants each principal as many places as the limit', () => {
    const quota = new PrincipalQuota(new MemoryQuotas(), LIMIT);
    expect(['a', 'a', 'a', 'b'].map((key) => quota.claim(key))).toEqual([true, true, false, true]);
    expect(['a', 'b'].map((key) => quota.isReached(key))).toEqual([true, false]);
    quota.release('a');
    expect(quota.claim('a')).toBe(true);
  });

  it('claims a place above the limit, which then counts', () => {
    const quota = new PrincipalQuota(new MemoryQuotas(), LIMIT);
    for (let n = 0; n < 3; n++) quota.claimUnlimited('a');
    quota.release('a');
    expect(quota.claim('a')).toBe(false);
  });

  it('shares no counter with a quota of another name', () => {
    const quotas = new MemoryQuotas();
    const [sessions, streams] = ['sessions', 'streams'].map(
      (name) => new PrincipalQuota(quotas, { ...LIMIT, name, limit: 1 }),
    );
    expect([sessions!.claim('a'), streams!.claim('a')]).toEqual([true, true]);
  });

  it('counts each refusal and names the limit', () => {
    let refusals = 0;
    const quota = new PrincipalQuota(new MemoryQuotas(), LIMIT, () => refusals++);
    expect(quota.refuse()).toMatchObject({
      kind: 'limit-exceeded',
      message: 'LimitExceeded: this principal already has 2 open sessions',
      data: { code: 'LimitExceeded', limit: 2 },
    });
    expect(refusals).toBe(1);
  });
});
