import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { REQUIREMENTS } from './requirements.js';

const SCENARIOS = { '000': 12, '001': 8, '002': 37, '003': 14, '004': 36 };

const cases = REQUIREMENTS.flatMap(({ seed, scenario, proofs }) =>
  proofs.map((proof) => ({ title: `${seed} ${scenario}`, ...proof })),
);

describe('the requirements', () => {
  it('contain every scenario once', () => {
    const titles = REQUIREMENTS.map(({ seed, scenario }) => `${seed} ${scenario}`);
    expect(new Set(titles).size).toBe(titles.length);
    const counts = Object.keys(SCENARIOS).map((id) => [
      id,
      REQUIREMENTS.filter(({ seed }) => seed === id).length,
    ]);
    expect(Object.fromEntries(counts)).toEqual(SCENARIOS);
  });

  it('name a test for every scenario', () => {
    expect(REQUIREMENTS.filter(({ proofs }) => proofs.length === 0)).toEqual([]);
  });

  it.each(cases)('$title: "$test" is a test in $file', ({ file, test }) => {
    expect(existsSync(file)).toBe(true);
    const source = readFileSync(file, 'utf8');
    expect(source).toContain(test);
    // A skipped test proves nothing.
    expect(source).not.toMatch(/\b(it|test|describe)\.(skip|todo|only|failing)\b|\bx(it|describe)\(/);
  });
});
