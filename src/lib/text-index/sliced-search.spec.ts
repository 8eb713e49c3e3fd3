import { describe, expect, it } from '@jest/globals';
import { matching, search, slicedSearch } from './search.js';
import { SearchIndex } from './search-index.js';

interface Doc {
  readonly name: string;
}

const byName = (a: Doc, b: Doc): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Enough that it takes several segments. */
const MANY = 12_000;
const EVERYTHING = { limit: 10 * MANY };

function indexOf(from: number, many: number): { index: SearchIndex<Doc>; docs: Doc[] } {
  const index = new SearchIndex<Doc>(byName);
  const docs = Array.from({ length: many }, (_, n) => ({ name: `report ${from + n}` }));
  for (const doc of docs) index.add(doc, doc);
  return { index, docs };
}

/** Fills the open segments until they are sealed, and empties the sealed ones until others absorb them. */
function meddler(index: SearchIndex<Doc>, docs: readonly Doc[]): () => void {
  let turn = 0;
  return () => {
    turn++;
    for (let n = 0; n < 3000; n++) index.add({ name: `late ${turn}-${n}` }, { name: `late ${turn}-${n}` });
    for (let n = turn % 3; n < docs.length; n += 3) if (n % 10 !== 0) index.remove(docs[n]!);
  };
}

describe('a search that gives way', () => {
  it('finds the same, in the same order', async () => {
    const indexes = [indexOf(0, MANY).index, indexOf(MANY, 100).index];
    let pauses = 0;
    const yieldIfDue = (): Promise<void> => Promise.resolve(void pauses++);
    for (const query of ['report', 'report 77', 'reprot 12', 'nothing'])
      expect(await slicedSearch(indexes, query, { limit: 50 }, yieldIfDue)).toEqual(
        search(indexes, query, { limit: 50 }),
      );
    expect(pauses).toBeGreaterThan(4);
  });

  it('finds once each what was there all the time, whatever is added and removed meanwhile', async () => {
    const { index, docs } = indexOf(0, MANY);
    const stayed = docs.filter((_doc, n) => n % 10 === 0);
    const meddle = meddler(index, docs);
    const found = await slicedSearch([index], 'report', EVERYTHING, () => Promise.resolve(meddle()));
    expect(new Set(found).size).toBe(found.length);
    const names = new Set(found);
    expect(stayed.filter((doc) => !names.has(doc))).toEqual([]);
  });

  it.each(['report', ''])('and so does one that takes all that match, one by one (%j)', (query) => {
    const { index, docs } = indexOf(0, MANY);
    const stayed = docs.filter((_doc, n) => n % 10 === 0);
    const meddle = meddler(index, docs);
    const found: Doc[] = [];
    for (const doc of matching([index], query)) if (found.push(doc) % 1000 === 0) meddle();
    expect(new Set(found).size).toBe(found.length);
    const names = new Set(found);
    expect(stayed.filter((doc) => !names.has(doc))).toEqual([]);
  });
});
