import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { PrefixTree } from './prefix-tree.js';

interface Value {
  readonly key: string;
}

// Few letters, so that many keys are equal, share a prefix, or extend one another.
const keys = fc.string({ unit: fc.constantFrom('a', 'b', '/', '\ud83d', '\ude00'), maxLength: 6 });

function treeOf(...all: string[]): PrefixTree<Value> {
  const tree = new PrefixTree<Value>();
  for (const key of all) tree.set(key, { key });
  return tree;
}

function prefixesOf(tree: PrefixTree<Value>, text: string): string[] {
  const found: string[] = [];
  tree.forEachPrefixOf(text, ({ key }, length) => {
    expect(length).toBe(key.length);
    found.push(key);
  });
  return found;
}

const sorted = (tree: PrefixTree<Value>): string[] => Array.from(tree.values(), ({ key }) => key).toSorted();

describe('PrefixTree', () => {
  it('finds the same values as a scan of a Map', () => {
    const steps = fc.array(fc.record({ key: keys, keep: fc.boolean() }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, keys, (taken, text) => {
        const tree = new PrefixTree<Value>();
        const map = new Map<string, Value>();
        for (const { key, keep } of taken) {
          if (keep) {
            map.set(key, { key });
            tree.set(key, { key });
          } else {
            map.delete(key);
            tree.delete(key);
          }
          expect(tree.get(text)).toEqual(map.get(text));
          expect(sorted(tree)).toEqual([...map.keys()].toSorted());
          const shorterFirst = [...map.keys()].filter((each) => text.startsWith(each));
          expect(prefixesOf(tree, text)).toEqual(shorterFirst.toSorted((a, b) => a.length - b.length));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('is empty again when all keys are deleted', () => {
    fc.assert(
      fc.property(fc.array(keys), fc.array(keys), (stay, go) => {
        const tree = treeOf(...stay, ...go);
        for (const key of go) if (!stay.includes(key)) tree.delete(key);
        expect(sorted(tree)).toEqual([...new Set(stay)].toSorted());
        for (const key of stay) tree.delete(key);
        expect(tree).toEqual(new PrefixTree());
      }),
    );
  });

  it('finds the empty key for every text', () => {
    expect(prefixesOf(treeOf('', 'a'), 'b')).toEqual(['']);
  });

  it('holds thousands of keys that each extend the previous one', () => {
    const long = 'a'.repeat(5000);
    const all = Array.from({ length: 5000 }, (_, length) => long.slice(0, length + 1));
    const tree = treeOf(...all);
    expect(prefixesOf(tree, `${long}b`)).toHaveLength(5000);
    expect(Array.from(tree.values())).toHaveLength(5000);
    for (const key of all) tree.delete(key);
    expect(tree).toEqual(new PrefixTree());
  });
});
