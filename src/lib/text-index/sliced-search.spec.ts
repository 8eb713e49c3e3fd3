import { describe, expect, it } from '@jest/globals';
import { matching, search, slicedSearch } from './search.js';
import { SearchIndex } from './search-index.js';

interface Doc {
  readonly name: string;
}

const byName = (a: Doc, b: Doc): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

const SCHEMA = [{ name: 'name', boost: 4, usualLength: 3 }];
/** Enough for several segments. */
const MANY = 12_000;
const EVERYTHING = { limit: 10 * MANY };

function indexOf(from: number, many: number): { index: SearchIndex<Doc>; docs: Doc[] } {
  const index = new SearchIndex<Doc>(SCHEMA, byName);
  const docs = Array.from({ length: many }, (_, n) => ({ name: `report ${from + n}` }));
  for (const doc of docs) index.add(doc, { ...doc });
  return { index, docs };
}

/** Fills open segments until they are sealed, and empties sealed ones until they are merged. */
function indexChanger(index: SearchIndex<Doc>, docs: readonly Doc[]): () => void {
  let round = 0;
  return () => {
    round++;
    for (let n = 0; n < 3000; n++) index.add({ name: `late ${round}-${n}` }, { name: `late ${round}-${n}` });
    for (let n = round % 3; n < docs.length; n += 3) if (n % 10 !== 0) index.remove(docs[n]!);
  };
}

describe('slicedSearch', () => {
  it('returns what search returns', async () => {
    const indexes = [indexOf(0, MANY).index, indexOf(MANY, 100).index];
    let yields = 0;
    const yieldIfDue = (): Promise<void> => Promise.resolve(void yields++);
    for (const query of ['report', 'report 77', 'reprot 12', 'nothing'])
      expect(await slicedSearch(indexes, query, { limit: 50 }, yieldIfDue)).toEqual(
        search(indexes, query, { limit: 50 }),
      );
    expect(yields).toBeGreaterThan(4);
  });

  it('finds every item that stays exactly once while others are added and removed', async () => {
    const { index, docs } = indexOf(0, MANY);
    const stayed = docs.filter((_doc, n) => n % 10 === 0);
    const changeIndex = indexChanger(index, docs);
    const found = await slicedSearch([index], 'report', EVERYTHING, () => Promise.resolve(changeIndex()));
    expect(new Set(found).size).toBe(found.length);
    const foundSet = new Set(found);
    expect(stayed.filter((doc) => !foundSet.has(doc))).toEqual([]);
  });
});

describe('matching', () => {
  it.each(['report', ''])(
    'finds every item that stays exactly once while others change (query %j)',
    (query) => {
      const { index, docs } = indexOf(0, MANY);
      const stayed = docs.filter((_doc, n) => n % 10 === 0);
      const changeIndex = indexChanger(index, docs);
      const found: Doc[] = [];
      for (const doc of matching([index], query)) if (found.push(doc) % 1000 === 0) changeIndex();
      expect(new Set(found).size).toBe(found.length);
      const foundSet = new Set(found);
      expect(stayed.filter((doc) => !foundSet.has(doc))).toEqual([]);
    },
  );
});
