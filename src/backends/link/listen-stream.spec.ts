import { describe, expect, it } from '@jest/globals';
import { ListenStream, MAX_URIS, mergeableOf } from './listen-stream.js';

const urisOf = (count: number, prefix = 'x'): Set<string> =>
  new Set(Array.from({ length: count }, (_, n) => `${prefix}:${n}`));

const streamsOf = (sizes: readonly number[]): Set<ListenStream> =>
  new Set(sizes.map((size) => new ListenStream(undefined, urisOf(size))));

describe('mergeableOf', () => {
  it.each<[string, number[], number[]]>([
    ['nothing up to eight streams', [1, 1, 1, 1, 1, 1, 1, 1], []],
    ['streams of equal size', [1, 1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1, 1]],
    [
      'no stream that is larger than the smaller ones together',
      [9, 1, 1, 2, 4, 99, 98, 97, 96],
      [1, 1, 2, 4],
    ],
    ['at least the two smallest streams', [1, 5, 20, 30, 40, 50, 60, 70, 80], [1, 5]],
    [
      'at most as many URIs as one request may have',
      Array<number>(9).fill(MAX_URIS / 4),
      Array<number>(4).fill(MAX_URIS / 4),
    ],
    ['nothing if the two smallest have too many URIs', Array<number>(9).fill(MAX_URIS / 2 + 1), []],
  ])('returns %s', (_what, sizes, merged) => {
    expect(mergeableOf(streamsOf(sizes)).map(({ uris }) => uris.size)).toEqual(merged);
  });
});

describe('ListenStream', () => {
  it('reads no more elements than a request has URIs', () => {
    const stream = new ListenStream(undefined, urisOf(3));
    stream.keepHonoured(`["x:1",${'[],'.repeat(MAX_URIS)}"x:0"]`);
    expect([...stream.uris]).toEqual(['x:1']);
  });

  it.each<[string | undefined, string[]]>([
    ['["x:0","x:1","x:2"]', ['x:0', 'x:1', 'x:2']],
    ['["x:2", "x:0", "y"]', ['x:0', 'x:2']],
    ['{"x:0":true}', []],
    ['["x:0",[[[]]],{"x:1":["x:1"]},7,"x:2"]', ['x:0', 'x:2']],
    [undefined, []],
  ])('keeps what the server honours: %s', (honoured, kept) => {
    const stream = new ListenStream(undefined, urisOf(3));
    stream.keepHonoured(honoured);
    expect([[...stream.uris], stream.isEmpty]).toEqual([kept, kept.length === 0]);
  });

  it('is stale when it has fewer than half of its URIs left, and more than eight are gone', () => {
    const stream = new ListenStream({ toolsListChanged: true }, urisOf(20));
    const stale: number[] = [];
    for (const uri of urisOf(20)) {
      stream.uris.delete(uri);
      if (stream.isStale) stale.push(stream.uris.size);
    }
    expect([stale, stream.isEmpty]).toEqual([[5, 4, 3, 2, 1, 0], false]);
  });
});
