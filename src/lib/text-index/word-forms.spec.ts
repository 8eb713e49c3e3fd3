import { describe, expect, it } from '@jest/globals';
import { wordFormsOf } from './word-forms.js';

describe('wordFormsOf', () => {
  it.each([
    ['bucket', 'buckets'],
    ['query', 'queries'],
    ['search', 'searches'],
    ['create', 'creating'],
    ['create', 'created'],
    ['show', 'shows'],
    ['commit', 'committed'],
    ['plan', 'planning'],
    ['use', 'using'],
    ['box', 'boxes'],
  ])('relates %s and %s in both directions', (a, b) => {
    expect(wordFormsOf(a)).toContain(b);
    expect(wordFormsOf(b)).toContain(a);
  });

  it.each(['s3', 'db', 'отчет', '报', 'x1'])('has no forms for %s', (word) => {
    expect(wordFormsOf(word)).toEqual([]);
  });

  it.each([
    ['string', 'str'],
    ['address', 'addres'],
    ['status', 'statu'],
    ['news', 'ne'],
  ])('does not relate %s to %s', (word, other) => {
    expect(wordFormsOf(word)).not.toContain(other);
  });
});
