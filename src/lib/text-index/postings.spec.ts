import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { PostingList, MAX_DOCUMENTS, Postings } from './postings.js';

interface Entry {
  readonly word: number;
  readonly document: number;
  readonly weight: number;
}

const WORDS = 5;
const additions = fc.array(
  fc.record({ word: fc.nat(WORDS - 1), step: fc.nat(300), weight: fc.integer({ min: 1, max: 255 }) }),
  { maxLength: 200 },
);

function read(postings: Postings, word: number): Omit<Entry, 'word'>[] {
  const entries = new PostingList();
  postings.read(word, entries);
  return Array.from({ length: entries.size }, (_, i) => ({
    document: entries.documents[i]!,
    weight: entries.weights[i]!,
  }));
}

/** Every term has a posting, since terms without one are never read. */
function entriesOf(steps: readonly { word: number; step: number; weight: number }[]): Entry[] {
  const first = Array.from({ length: WORDS }, (_, word) => ({ word, document: 0, weight: 255 }));
  const rest: Entry[] = [];
  let document = 0;
  for (const { word, step, weight } of steps) {
    document += step + 1;
    if (document < MAX_DOCUMENTS) rest.push({ word, document, weight });
  }
  return [...first, ...rest];
}

describe('Postings', () => {
  it('returns the added postings, before and after sealing', () => {
    fc.assert(
      fc.property(additions, fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: WORDS }), (steps, order) => {
        const entries = entriesOf(steps);
        const postings = new Postings();
        for (const { word, document, weight } of entries) postings.add(word, document, weight);
        const expected = (word: number): Omit<Entry, 'word'>[] =>
          entries
            .filter((entry) => entry.word === word)
            .map(({ document, weight }) => ({ document, weight }));
        expect(postings.size).toBe(entries.length);
        for (const word of order) expect(read(postings, word)).toEqual(expected(word));
        postings.seal(Uint16Array.from(order));
        for (const [number, word] of order.entries()) {
          expect(read(postings, number)).toEqual(expected(word));
          expect(postings.count(number)).toBe(expected(word).length);
        }
      }),
    );
  });

  it('holds a term that every document has', () => {
    const postings = new Postings();
    for (let document = 0; document < MAX_DOCUMENTS; document++)
      postings.add(0, document, 1 + (document % 255));
    expect(read(postings, 0)).toHaveLength(MAX_DOCUMENTS);
    expect(read(postings, 0).at(-1)).toEqual({ document: MAX_DOCUMENTS - 1, weight: MAX_DOCUMENTS % 255 });
  });
});
