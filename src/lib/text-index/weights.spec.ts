import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { weigh, type SearchFields } from './weights.js';

const weightOf = (word: string, fields: SearchFields): number => weigh(fields).get(word) ?? 0;

describe('the weight of a word', () => {
  it.each<[string, SearchFields, SearchFields]>([
    ['in the name than in the title', { name: 'log' }, { title: 'log' }],
    ['in the title than in the URI', { title: 'log' }, { uri: 'log' }],
    ['in the URI than in the description', { uri: 'log' }, { description: 'log' }],
    ['in a short name than in a long one', { name: 'log' }, { name: 'log of the server' }],
    ['in two fields than in one', { name: 'log', description: 'log' }, { name: 'log' }],
    ['if it comes often', { description: 'log and log and log' }, { description: 'log and more and more' }],
    ['in the name than in a description full of it', { name: 'log' }, { description: 'log '.repeat(500) }],
  ])('is higher %s', (_where, higher, lower) => {
    expect(weightOf('log', higher)).toBeGreaterThan(weightOf('log', lower));
  });

  it('is a byte and never nothing, whatever the document', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(fc.record({ name: text, title: text, description: text, uri: text }), (fields) => {
        for (const weight of weigh(fields).values()) {
          expect(Number.isInteger(weight)).toBe(true);
          expect(weight).toBeGreaterThanOrEqual(1);
          expect(weight).toBeLessThanOrEqual(255);
        }
      }),
    );
    expect(weightOf('rare', { description: `rare ${'word '.repeat(1500)}` })).toBeGreaterThanOrEqual(1);
  });

  it('reads a URI as people do', () => {
    expect([...weigh({ uri: 'file:///My%20R%C3%A9sum%C3%A9.pdf' }).keys()]).toEqual([
      'file',
      'my',
      'resume',
      'pdf',
    ]);
  });

  it('takes a URI with broken codes as it is', () => {
    expect([...weigh({ uri: 'x:100%/done' }).keys()]).toEqual(['x', '100', 'done']);
  });

  it('reads no more than the start of an endless text', () => {
    expect(weigh({ description: `${'a '.repeat(5000)}late` }).has('late')).toBe(false);
  });
});
