import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonText } from '../../lib/json-text/json-text.js';
import { PageComparison, type PageDigests } from './page-digests.js';

/** Compares pages with those before: what has to be read, whether all are unchanged, and their digests. */
function compare(texts: readonly string[], before?: PageDigests) {
  const comparison = new PageComparison(before);
  const read = texts.flatMap((text) => comparison.add(new JsonText(text)));
  const { isUnchanged, newDigests } = comparison;
  if (!isUnchanged) read.push(...comparison.takeHeldPages());
  return { read: read.map(({ text }) => text), isUnchanged, digests: newDigests };
}

const page = (length: number): string => `"${'x'.repeat(length - 2)}"`;

describe('PageComparison', () => {
  const pages = fc.array(fc.constantFrom('{"a":1}', '{"b":2}', '{"c":3}'), { minLength: 1, maxLength: 5 });

  it('has every page read, in order, unless all pages are as before', () => {
    fc.assert(
      fc.property(pages, pages, (first, second) => {
        const { digests } = compare(first);
        const { read, isUnchanged } = compare(second, digests);
        expect(isUnchanged).toBe(first.join() === second.join());
        expect(read).toEqual(isUnchanged ? [] : second);
      }),
    );
  });

  it('holds back no more than 64 pages', () => {
    const texts = Array.from({ length: 64 }, () => '{}');
    const { digests } = compare(texts.slice(1));
    expect(compare(texts.slice(1), digests).isUnchanged).toBe(true);
    expect(compare(texts, compare(texts).digests)).toMatchObject({ isUnchanged: false, read: texts });
    expect(compare([...texts, '{}']).digests).toBeUndefined();
  });

  it('compares no pages of more than 1 MB, and holds back no more than 4 MB', () => {
    expect(compare([page(1_048_577)]).digests).toBeUndefined();
    const texts = Array.from({ length: 4 }, () => page(1_048_576));
    expect(compare(texts.slice(1), compare(texts.slice(1)).digests).isUnchanged).toBe(true);
    expect(compare(texts, compare(texts).digests).isUnchanged).toBe(false);
  });
});
