import { describe, expect, it } from '@jest/globals';
import { offerOf, seenIn, STYLES, neverYield } from '../../../test/kit/resource-offers.js';
import { ResourceDirectory } from './resource-directory.js';
import type { ResourceOffer } from './resource-offer.js';
import { resourceForm } from './resource-uri.js';
import { EVERYTHING } from '../scope.js';

const changed = (before: ResourceDirectory, after: ResourceDirectory): string[] =>
  [...after.changedServers(before)].toSorted();

/** Long lists whose names meet in other ways: templates that both have, and URIs like what another's are called. */
const meeting = async (): Promise<ResourceOffer[]> => {
  const numbers = Array.from({ length: 1500 }, (_, n) => n);
  const templates = numbers.map((n) => `x:${n}/{y}`);
  const own = numbers.map((n) => `x:${n}`);
  const like = own.map((uri) => resourceForm({ server: 'a', uri }));
  return [await offerOf('a', own, templates), await offerOf('b', like, templates)];
};

const templatesIn = (directory: ResourceDirectory): string[] =>
  directory.view(EVERYTHING).listedTemplates.map(({ uriTemplate }) => uriTemplate);

describe('what is prepared', () => {
  it.each(STYLES)('has the same names as what is built at once, in style %s', async (style) => {
    const [ahead, atOnce] = [await meeting(), await meeting()];
    let pauses = 0;
    const prepared = ResourceDirectory.prepare(ahead, style, () => void pauses++);
    expect(prepared).toBeDefined();
    await prepared!();
    expect(pauses).toBeGreaterThan(5);
    expect(ResourceDirectory.prepare(ahead, style, neverYield)).toBeUndefined();
    const [one, other] = [ahead, atOnce].map((offers) => ResourceDirectory.build(offers, style));
    expect(seenIn(one!).map(({ uri }) => uri)).toEqual(seenIn(other!).map(({ uri }) => uri));
    expect(templatesIn(one!)).toEqual(templatesIn(other!));
    expect(new Set(templatesIn(one!)).size).toBe(3000);
  });
});

describe('changedServers, where two have the same,', () => {
  const names = ['x:1', 'resource://a/x:1', 'a_x___1'];

  it.each(STYLES)('are not those of which nothing is called otherwise, in style %s', async (style) => {
    const a = await offerOf('a', ['x:1', 'x:3']);
    const old = ResourceDirectory.build([a, await offerOf('b', names)], style);
    const now = ResourceDirectory.build([a, await offerOf('b', [...names, 'y:2'])], style, old);
    expect(changed(old, now)).toEqual(['b']);
    const later = ResourceDirectory.build([a, await offerOf('b', ['y:2', ...names])], style, now);
    expect(changed(now, later)).toEqual(['b']);
  });

  it('are not those whose names still give way to another', async () => {
    const [a, b] = [await offerOf('a', ['x:1']), await offerOf('b', ['x:1'])];
    const old = ResourceDirectory.build([a, b, await offerOf('c', ['x:1'])], 'original');
    const now = ResourceDirectory.build([a, b, await offerOf('c', ['y:1'])], 'original', old);
    expect(changed(old, now)).toEqual(['c']);
    expect(changed(now, ResourceDirectory.build([a], 'original', now))).toEqual(['a', 'b', 'c']);
  });

  it('are not those of long lists, either, of which nothing is called otherwise', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => `x:${n}`);
    const a = await offerOf('a', many);
    const [before, after] = [
      [a, await offerOf('b', many)],
      [a, await offerOf('b', [...many, 'y:1'])],
    ];
    await ResourceDirectory.prepare(before, 'original', neverYield)?.();
    const old = ResourceDirectory.build(before, 'original');
    await ResourceDirectory.prepare(after, 'original', neverYield)?.();
    expect(changed(old, ResourceDirectory.build(after, 'original', old))).toEqual(['b']);
  });
});
