import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { termWeights, type DocumentFields } from './term-weights.js';

const SCHEMA = [
  { name: 'name', boost: 4, usualLength: 3 },
  { name: 'title', boost: 3, usualLength: 4 },
  { name: 'uri', boost: 1.5, usualLength: 8, isUri: true },
  { name: 'description', boost: 1, usualLength: 16 },
  { name: 'mimeType', boost: 1, usualLength: 2 },
];

const weightOf = (term: string, fields: DocumentFields): number => termWeights(SCHEMA, fields).get(term) ?? 0;

describe('termWeights', () => {
  it.each<[string, DocumentFields, DocumentFields]>([
    ['in the name than in the title', { name: 'log' }, { title: 'log' }],
    ['in the title than in the URI', { title: 'log' }, { uri: 'log' }],
    ['in the URI than in the description', { uri: 'log' }, { description: 'log' }],
    ['in a short name than in a long one', { name: 'log' }, { name: 'log of the server' }],
    ['in two fields than in one', { name: 'log', description: 'log' }, { name: 'log' }],
    [
      'if it occurs more often',
      { description: 'log and log and log' },
      { description: 'log and more and more' },
    ],
    ['in the name than in a description full of it', { name: 'log' }, { description: 'log '.repeat(500) }],
  ])('gives a term a higher weight %s', (_where, higher, lower) => {
    expect(weightOf('log', higher)).toBeGreaterThan(weightOf('log', lower));
  });

  it('gives weights from 1 to 255 for arbitrary documents', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    fc.assert(
      fc.property(fc.record({ name: text, title: text, description: text, uri: text }), (fields) => {
        for (const weight of termWeights(SCHEMA, fields).values()) {
          expect(Number.isInteger(weight)).toBe(true);
          expect(weight).toBeGreaterThanOrEqual(1);
          expect(weight).toBeLessThanOrEqual(255);
        }
      }),
    );
    expect(weightOf('rare', { description: `rare ${'word '.repeat(1500)}` })).toBeGreaterThanOrEqual(1);
  });

  it('decodes a URI before it is tokenized', () => {
    expect([...termWeights(SCHEMA, { uri: 'file:///My%20R%C3%A9sum%C3%A9.pdf' }).keys()]).toEqual([
      'file',
      'my',
      'resume',
      'pdf',
    ]);
  });

  it('does not decode a URI with invalid percent-encoding', () => {
    expect([...termWeights(SCHEMA, { uri: 'x:100%/done' }).keys()]).toEqual(['x', '100', 'done']);
  });

  it('reads only the start of a long text', () => {
    expect(termWeights(SCHEMA, { description: `${'a '.repeat(5000)}late` }).has('late')).toBe(false);
  });
});
