import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { listOf, resource, neverYield, uris } from '../../../test/kit/resource-offers.js';
import { ResourceList } from './resource-list.js';
import { isUi, underscoreId } from './resource-uri.js';

const build = (...given: ReturnType<typeof resource>[]): Promise<ResourceList> =>
  ResourceList.build('fs', given, neverYield);

const sorted = (texts: Iterable<string>): string[] => [...texts].toSorted((a, b) => (a < b ? -1 : 1));

describe('ResourceList', () => {
  it('is sorted by URI and by identifier, each resource once', () =>
    fc.assert(
      fc.asyncProperty(fc.array(uris), async (given) => {
        const list = await listOf('a', ...given);
        expect(list.byUri.map(({ uri }) => uri)).toEqual(sorted(new Set(given)));
        expect(list.byId.map(({ id }) => id)).toEqual(sorted(new Set(list.byUri.map(({ id }) => id))));
        expect(list.size).toBe(new Set(given).size);
        expect(new Set(list.byId)).toEqual(new Set(list.byUri));
      }),
    ));

  it('finds every resource by URI and by identifier, and nothing else', () =>
    fc.assert(
      fc.asyncProperty(fc.array(uris), uris, async (given, other) => {
        const list = await listOf('a', ...given);
        for (const one of list.byUri) {
          expect(list.find(one.uri)).toBe(one);
          expect(list.findId(one.id)).toBe(one);
        }
        expect(list.find(other)?.uri).toBe(given.includes(other) ? other : undefined);
      }),
    ));

  it('does not depend on the order of the definitions', () =>
    fc.assert(
      fc.asyncProperty(fc.uniqueArray(uris), async (given) => {
        const [list, again] = [await listOf('a', ...given), await listOf('a', ...given.toReversed())];
        expect(again.byUri).toEqual(list.byUri);
      }),
    ));

  it('keeps the first of several definitions with one URI', async () => {
    const list = await build(resource('x:1', { n: 1 }), resource('x:0'), resource('x:1', { n: 2 }));
    expect(list.byUri.map(({ text }) => text)).toEqual([
      resource('x:0').text,
      resource('x:1', { n: 1 }).text,
    ]);
  });

  it('separates user interfaces from all other resources', () =>
    fc.assert(
      fc.asyncProperty(fc.array(uris), async (given) => {
        const list = await listOf('a', ...given);
        expect(list.uis).toEqual(list.byUri.filter(({ uri }) => isUi(uri)));
        expect(list.plain).toEqual(list.byUri.filter(({ uri }) => !isUi(uri)));
        expect(list.plainById).toEqual(list.byId.filter(({ uri }) => !isUi(uri)));
      }),
    ));

  it('lists the resources with a prefix, in order', async () => {
    const list = await listOf('a', 'x:2', 'y:1', 'x:1', 'x:', 'w:9');
    expect([...list.startingWith('x:')].map(({ uri }) => uri)).toEqual(['x:', 'x:1', 'x:2']);
    expect([...list.startingWith('z')]).toEqual([]);
    expect([...list.startingWith('')]).toHaveLength(5);
    const counts = ['x', 'y:1', 'y:11', '', 'a'].map((prefix) => [...list.startingWith(prefix)].length);
    expect(counts).toEqual([3, 1, 0, 5, 0]);
    expect([...ResourceList.NOT_LISTED.startingWith('')]).toEqual([]);
  });
});

const digits = (uri: string, count: number): string =>
  createHash('sha256').update(uri).digest('hex').slice(0, count);

describe('ResourceList identifiers', () => {
  it('are the underscore form without conflicts', async () => {
    const list = await listOf('filesystem', 'file:///logs/app.log');
    expect(list.byId).toMatchObject([{ id: 'filesystem_file___logs_app.log' }]);
  });

  it('all get a digest in a conflict', async () => {
    const list = await listOf('a', 'x:/ü', 'x:/é', 'x:/y');
    expect(list.byUri.map(({ uri, id }) => [uri, id])).toEqual([
      ['x:/y', 'a_x___y'],
      ['x:/é', `a_x____~${digits('x:/é', 8)}`],
      ['x:/ü', `a_x____~${digits('x:/ü', 8)}`],
    ]);
  });

  it('never refer to another resource after the list grows', async () => {
    const [alone, both] = [await listOf('a', 'file:///a_b'), await listOf('a', 'file:///a_b', 'file:///a+b')];
    const id = alone.find('file:///a_b')!.id;
    expect(id).toBe('a_file___a_b');
    expect(both.findId(id)).toBeUndefined();
    for (const { id: own, uri } of both.byUri) expect(both.findId(own)?.uri).toBe(uri);
  });

  it('get a longer digest where the digests conflict', async () => {
    // Found by brute force: their digests begin with the same eight digits.
    const [one, other] = [',;@=*', '??,$'];
    expect(digits(one, 8)).toBe(digits(other, 8));
    const list = await listOf('a', '!', other, one);
    expect(list.byUri.map(({ uri, id }) => [uri, id])).toEqual([
      ['!', `a_____~${digits('!', 8)}`],
      [one, `a_____~${digits(one, 16)}`],
      [other, `a_____~${digits(other, 16)}`],
    ]);
    for (const each of list.byUri) expect(list.findId(each.id)).toBe(each);
  });

  it('are unique for thousands that conflict', async () => {
    const many = Array.from({ length: 5000 }, (_, n) => String.fromCodePoint(0x4e00 + n));
    const list = await listOf('a', ...many);
    expect(new Set(many.map((uri) => underscoreId({ server: 'a', uri }))).size).toBe(1);
    expect(new Set(list.byId.map(({ id }) => id)).size).toBe(many.length);
  });
});

describe('ResourceList.equals', () => {
  it('is true when every text is the same', () =>
    fc.assert(
      fc.asyncProperty(fc.array(uris), fc.array(uris), fc.boolean(), async (one, other, changed) => {
        const list = await listOf('a', ...one);
        expect(await list.equals(await listOf('a', ...one.toReversed()), neverYield)).toBe(true);
        const next = await ResourceList.build(
          'a',
          other.map((uri) => resource(uri, changed ? { title: 'new' } : {})),
          neverYield,
        );
        const isSame = !changed && String(sorted(new Set(one))) === String(sorted(new Set(other)));
        expect(await list.equals(next, neverYield)).toBe(isSame || (one.length === 0 && other.length === 0));
      }),
    ));
});
