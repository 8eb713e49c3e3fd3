import { describe, expect, it } from '@jest/globals';
import { buildDirectory, offerOf, seenIn, STYLES } from '../../../../test/kit/resource-offers.js';
import { countSteps } from '../../../../test/kit/run-steps.js';
import type { ResourceDirectory } from '../resource-directory.js';
import { ResourceDirectoryBuilder } from '../resource-directory-builder.js';
import type { ResourceOffer } from './resource-conflicts.js';
import { resourceForm } from '../resource-uri.js';
import { EVERYTHING } from '../../scope.js';

const changed = (before: ResourceDirectory, after: ResourceDirectory): string[] =>
  [...after.changedServers(before)].toSorted();

/** Long lists that conflict in templates and in URIs that equal resource forms of the other server. */
const conflictingOffers = async (): Promise<ResourceOffer[]> => {
  const numbers = Array.from({ length: 1500 }, (_, n) => n);
  const templates = numbers.map((n) => `x:${n}/{y}`);
  const own = numbers.map((n) => `x:${n}`);
  const forms = own.map((uri) => resourceForm({ server: 'a', uri }));
  return [await offerOf('a', own, templates), await offerOf('b', forms, templates)];
};

const templatesIn = (directory: ResourceDirectory): string[] =>
  directory.view(EVERYTHING).listedTemplates.map(({ uriTemplate }) => uriTemplate);

describe('ResourceDirectoryBuilder', () => {
  it.each([
    ['resource', 0],
    ['underscore', 0],
    ['original', 4],
  ] as const)(
    'builds long lists in steps and gives every resource a name, in style %s',
    async (style, minSteps) => {
      const builder = new ResourceDirectoryBuilder(style);
      const steps = (await conflictingOffers()).map((offer) => countSteps(builder.put(offer)));
      expect(steps[1]).toBeGreaterThanOrEqual(minSteps);
      const { directory } = builder;
      expect(new Set(seenIn(directory).map(({ uri }) => uri)).size).toBe(3000);
      expect(new Set(templatesIn(directory)).size).toBe(3000);
      expect(countSteps(builder.remove('a'))).toBeGreaterThanOrEqual(minSteps);
      const alone = buildDirectory((await conflictingOffers()).slice(1), style);
      expect(seenIn(builder.directory).map(({ uri }) => uri)).toEqual(seenIn(alone).map(({ uri }) => uri));
      expect(templatesIn(builder.directory)).toEqual(templatesIn(alone));
    },
  );
});

describe('ResourceDirectory.changedServers with conflicts', () => {
  const names = ['x:1', 'resource://a/x:1', 'a_x___1'];

  it.each(STYLES)('omits a server whose public names stay the same, in style %s', async (style) => {
    const a = await offerOf('a', ['x:1', 'x:3']);
    const old = buildDirectory([a, await offerOf('b', names)], style);
    const now = buildDirectory([a, await offerOf('b', [...names, 'y:2'])], style, old);
    expect(changed(old, now)).toEqual(['b']);
    const later = buildDirectory([a, await offerOf('b', ['y:2', ...names])], style, now);
    expect(changed(now, later)).toEqual(['b']);
  });

  it('omits servers that still conflict with another server', async () => {
    const [a, b] = [await offerOf('a', ['x:1']), await offerOf('b', ['x:1'])];
    const old = buildDirectory([a, b, await offerOf('c', ['x:1'])], 'original');
    const now = buildDirectory([a, b, await offerOf('c', ['y:1'])], 'original', old);
    expect(changed(old, now)).toEqual(['c']);
    expect(changed(now, buildDirectory([a], 'original', now))).toEqual(['b', 'c']);
  });

  it('omits a server with a long list whose public names stay the same', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => `x:${n}`);
    const a = await offerOf('a', many);
    const [before, after] = [
      [a, await offerOf('b', many)],
      [a, await offerOf('b', [...many, 'y:1'])],
    ];
    const old = buildDirectory(before, 'original');
    expect(changed(old, buildDirectory(after, 'original', old))).toEqual(['b']);
  });
});
