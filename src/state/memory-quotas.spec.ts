import { describe, expect, it } from '@jest/globals';
import { quotasContract } from '../../test/contract/quotas.contract.js';
import { MemoryQuotas } from './memory-quotas.js';

quotasContract('MemoryQuotas', () => new MemoryQuotas());

describe('MemoryQuotas', () => {
  it('keeps no entry of a counter at zero', () => {
    const quotas = new MemoryQuotas();
    const counters = Array.from({ length: 100 }, (_, n) => ({ key: `${n}`, limit: 1 }));
    quotas.claim(counters);
    quotas.release(counters);
    const maps = Object.values(quotas).filter((field) => field instanceof Map);
    expect(maps.map((map) => map.size)).toEqual([0]);
  });
});
