import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { PostingList } from './postings.js';
import { KindTable, Segment } from './segment.js';

const WORDS = ['app', 'log', 'report', 'server'];
/** The terms of a document with their weights. */
const document = fc.dictionary(fc.constantFrom(...WORDS), fc.integer({ min: 1, max: 255 }), {
  noNullPrototype: true,
});
const documents = fc.array(fc.record({ words: document, isRemoved: fc.boolean() }), { maxLength: 30 });

interface Item {
  readonly key: string;
  readonly words: Readonly<Record<string, number>>;
}

const byKey = (a: Item, b: Item): number => (a.key < b.key ? -1 : 1);

function segmentOf(prefix: string, rows: readonly { words: Record<string, number>; isRemoved: boolean }[]) {
  const segment = new Segment<Item>(byKey);
  const items = rows.map(({ words }, index): Item => ({ key: `${prefix}${(index * 7) % 31}`, words }));
  for (const item of items) segment.add(item, new Map(Object.entries(item.words)));
  for (const [index, { isRemoved }] of rows.entries()) if (isRemoved) segment.remove(items[index]!);
  return { segment, remaining: items.filter((_, index) => !rows[index]!.isRemoved) };
}

/** The items that have the term, with its weights, as the segment has them. */
function entriesOf(segment: Segment<Item>, word: string): [Item | undefined, number][] {
  const { from, to } = segment.terms.prefixRange(word);
  if (from === to) return [];
  const entries = new PostingList();
  const termId = segment.terms.idAt(from);
  segment.read(termId, entries);
  expect(segment.documentCount(termId, new PostingList())).toBe(entries.size);
  return Array.from({ length: entries.size }, (_, i) => [
    segment.itemAt(entries.documents[i]!),
    entries.weights[i]!,
  ]);
}

const expected = (items: readonly Item[], word: string): [Item, number][] =>
  items.flatMap((item): [Item, number][] => (word in item.words ? [[item, item.words[word]!]] : []));

describe('Segment', () => {
  it.each(['open', 'sealed'])('keeps the items that were not removed (%s segment)', (state) => {
    fc.assert(
      fc.property(documents, (rows) => {
        const { segment, remaining } = segmentOf('a', rows);
        if (state === 'sealed') segment.seal();
        expect([...segment.liveItems]).toEqual(remaining);
        for (const word of WORDS) expect(entriesOf(segment, word)).toEqual(expected(remaining, word));
      }),
    );
  });

  it.each(['open', 'sealed'])(
    'merges the items that were not removed into another segment (%s source)',
    (state) => {
      fc.assert(
        fc.property(documents, documents, (mine, theirs) => {
          const target = segmentOf('a', mine);
          const source = segmentOf('b', theirs);
          if (state === 'sealed') source.segment.seal();
          target.segment.mergeFrom(source.segment);
          const remaining = [...target.remaining, ...source.remaining];
          expect([...target.segment.liveItems]).toEqual(remaining);
          for (const word of WORDS)
            expect(entriesOf(target.segment, word)).toEqual(expected(remaining, word));
        }),
      );
    },
  );

  it.each(['open', 'sealed'])('ranks documents by the order of their items (%s segment)', (state) => {
    const rows = Array.from({ length: 31 }, () => ({ words: {}, isRemoved: false }));
    const { segment, remaining } = segmentOf('a', rows);
    if (state === 'sealed') segment.seal();
    const sorted: (Item | undefined)[] = [];
    for (const [index, rank] of segment.ranks.entries()) sorted[rank] = segment.itemAt(index);
    expect(sorted).toEqual(remaining.toSorted(byKey));
  });

  it('accepts one document that exceeds the bounds', () => {
    const segment = new Segment<Item>(byKey);
    expect(segment.hasRoomFor(1, 40_000, 40_000)).toBe(true);
    segment.add({ key: 'a', words: {} }, new Map());
    expect(segment.hasRoomFor(1, 40_000, 40_000)).toBe(false);
  });
});

describe('KindTable', () => {
  it('numbers kinds from 1, and the empty kind 0', () => {
    const kinds = new KindTable();
    expect(['a', 'b', 'a', ''].map((name) => kinds.numberOf(name))).toEqual([1, 2, 1, 0]);
    expect([...kinds.passing((name) => name !== 'a')]).toEqual([1, 0, 1]);
  });

  it('gives 0 to kinds above its limit', () => {
    const kinds = new KindTable();
    for (let n = 1; n < 0x10000; n++) kinds.numberOf(`kind ${n}`);
    expect(kinds.numberOf('kind 65535')).toBe(65_535);
    expect(kinds.numberOf('one more')).toBe(0);
    expect(kinds.numberOf('kind 7')).toBe(7);
  });
});
