import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { Entries } from './postings.js';
import { Segment } from './segment.js';

const WORDS = ['app', 'log', 'report', 'server'];
/** A document is the words that it has, with their weights. */
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
  return { segment, left: items.filter((_, index) => !rows[index]!.isRemoved) };
}

/** The items that have the word, with its weights, as the segment knows them. */
function entriesOf(segment: Segment<Item>, word: string): [Item | undefined, number][] {
  const { from, to } = segment.vocabulary.startingWith(word);
  if (from === to) return [];
  const entries = new Entries();
  const number = segment.vocabulary.numberAt(from);
  segment.read(number, entries);
  expect(segment.count(number, new Entries())).toBe(entries.size);
  return Array.from({ length: entries.size }, (_, i) => [
    segment.at(entries.documents[i]!),
    entries.weights[i]!,
  ]);
}

const expected = (items: readonly Item[], word: string): [Item, number][] =>
  items.flatMap((item): [Item, number][] => (word in item.words ? [[item, item.words[word]!]] : []));

describe('Segment', () => {
  it.each(['open', 'sealed'])('keeps what is left, %s', (state) => {
    fc.assert(
      fc.property(documents, (rows) => {
        const { segment, left } = segmentOf('a', rows);
        if (state === 'sealed') segment.seal();
        expect([...segment.all]).toEqual(left);
        for (const word of WORDS) expect(entriesOf(segment, word)).toEqual(expected(left, word));
      }),
    );
  });

  it.each(['open', 'sealed'])('hands what is left to another, %s', (state) => {
    fc.assert(
      fc.property(documents, documents, (mine, theirs) => {
        const target = segmentOf('a', mine);
        const source = segmentOf('b', theirs);
        if (state === 'sealed') source.segment.seal();
        target.segment.absorb(source.segment);
        const left = [...target.left, ...source.left];
        expect([...target.segment.all]).toEqual(left);
        for (const word of WORDS) expect(entriesOf(target.segment, word)).toEqual(expected(left, word));
      }),
    );
  });

  it.each(['open', 'sealed'])('ranks documents as their items, %s', (state) => {
    const rows = Array.from({ length: 31 }, () => ({ words: {}, isRemoved: false }));
    const { segment, left } = segmentOf('a', rows);
    if (state === 'sealed') segment.seal();
    const sorted: (Item | undefined)[] = [];
    for (const [index, rank] of segment.ranks.entries()) sorted[rank] = segment.at(index);
    expect(sorted).toEqual(left.toSorted(byKey));
  });

  it('has room for one document that is larger than the rest together', () => {
    const segment = new Segment<Item>(byKey);
    expect(segment.hasRoomFor(1, 40_000, 40_000)).toBe(true);
    segment.add({ key: 'a', words: {} }, new Map());
    expect(segment.hasRoomFor(1, 40_000, 40_000)).toBe(false);
  });
});
