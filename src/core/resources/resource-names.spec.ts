import { describe, expect, it } from '@jest/globals';
import { only } from '../../../test/kit/offers.js';
import { addressOf, buildDirectory, offersOf, seenIn, STYLES } from '../../../test/kit/resource-offers.js';
import type { ResourceDirectory } from './resource-directory.js';
import type { ResourceStyle } from './resource-uri.js';
import { EVERYTHING, type Scope } from '../scope.js';

type Given = readonly [server: string, uris: readonly string[]];

const directoryOf = async (style: ResourceStyle, ...given: Given[]): Promise<ResourceDirectory> =>
  buildDirectory(await offersOf(given.map(([server, uris]) => ({ server, uris, templates: [] }))), style);

const urisIn = async (style: ResourceStyle, ...given: Given[]): Promise<string[]> =>
  seenIn(await directoryOf(style, ...given)).map(({ uri }) => uri);

const found = (directory: ResourceDirectory, scope: Scope, text: string): string | undefined =>
  addressOf(directory.view(scope).find(text));

describe('public URIs in a conflict', () => {
  it('have the underscore form without a conflict', async () => {
    expect(await urisIn('underscore', ['filesystem', ['file:///logs/app.log']])).toEqual([
      'filesystem_file___logs_app.log',
    ]);
  });

  it('have the resource form on both servers that list the same URI', async () => {
    expect(await urisIn('original', ['a', ['x:1', 'x:2']], ['b', ['x:1', 'x:3']])).toEqual([
      'resource://a/x:1',
      'resource://b/x:1',
      'x:2',
      'x:3',
    ]);
  });

  it('have the resource form where a URI equals a form of another resource', async () => {
    expect(await urisIn('original', ['a', ['x:1']], ['b', ['resource://a/x:1', 'a_x___1']])).toEqual([
      'resource://b/a_x___1',
      'resource://b/resource://a/x:1',
      'x:1',
    ]);
  });

  it('stay where a URI only starts like a form of another resource', async () => {
    expect(await urisIn('original', ['docs', ['resource://docs/intro', 'docs_a']])).toEqual([
      'docs_a',
      'resource://docs/intro',
    ]);
  });

  it('get a digest where two servers have the same identifier', async () => {
    const listed = await urisIn('underscore', ['a', ['b+c:r', 'x:1']], ['a_b', ['c:r', 'x:1']]);
    expect(listed).toEqual([
      expect.stringMatching(/^a_b_c___r~[0-9a-f]{8}$/),
      expect.stringMatching(/^a_b_c___r~[0-9a-f]{8}$/),
      'a_b_x___1',
      'a_x___1',
    ]);
  });

  it('resolve without the digest in a scope with only one of them', async () => {
    const directory = await directoryOf('underscore', ['a', ['b+c:r']], ['a_b', ['c:r']]);
    expect(found(directory, EVERYTHING, 'a_b_c___r')).toBeUndefined();
    expect(found(directory, only('a'), 'a_b_c___r')).toBe('a b+c:r');
    expect(found(directory, only('a_b'), 'a_b_c___r')).toBe('a_b c:r');
  });

  it('keep the scheme of user interfaces in every style', async () => {
    for (const style of STYLES)
      expect(await urisIn(style, ['a', ['ui://x/y']], ['b', ['ui://x/y']])).toEqual([
        'ui://a/x/y',
        'ui://b/x/y',
      ]);
  });
});

describe('a long list in style original', () => {
  it('has public URIs that all resolve, also where half of it conflicts with another list', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => `x:${n}`);
    const directory = await directoryOf('original', ['a', many], ['b', many.slice(1500)]);
    const seen = seenIn(directory);
    expect(new Set(seen.map(({ uri }) => uri)).size).toBe(4500);
    for (const { uri, resource } of seen) expect(found(directory, EVERYTHING, uri)).toBe(addressOf(resource));
  });
});
