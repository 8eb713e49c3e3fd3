import { describe, expect, it } from '@jest/globals';
import { LargeResponses } from './large-responses.js';

describe('LargeResponses', () => {
  it('admits eight responses at once, and the others in order', () => {
    const large = new LargeResponses();
    const admitted: number[] = [];
    const responses = Array.from({ length: 11 }, (_, index) => ({ admitted: () => admitted.push(index) }));
    const isAdmitted = responses.map((response) => large.admit(response));
    expect(isAdmitted.map(Number).join('')).toBe('11111111000');
    expect(large.admit(responses[0]!)).toBe(true);
    large.release(responses[9]!);
    large.release(responses[3]!);
    large.release(responses[3]!);
    large.release(responses[8]!);
    expect(admitted).toEqual([8, 10]);
  });
});
