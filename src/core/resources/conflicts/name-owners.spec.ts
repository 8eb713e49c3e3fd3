import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { NameOwners } from './name-owners.js';

const names = fc.constantFrom('', 'a', 'ab', 'x:1', 'x:2', '🚀');
const servers = fc.constantFrom('s', 't', 'u');
const changes = fc.array(fc.record({ name: names, server: servers }));

describe('NameOwners', () => {
  it('returns the server whose name becomes shared, or is its own again', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const owners = new NameOwners();
        const model = new Map<string, Set<string>>();
        for (const { name, server } of given) {
          const known = model.get(name) ?? new Set<string>();
          model.set(name, known);
          const isRemoval = known.delete(server);
          const other = isRemoval ? owners.delete(name, server) : owners.add(name, server);
          expect(other).toBe(known.size === 1 ? [...known][0] : undefined);
          if (!isRemoval) known.add(server);
          expect(new Set(owners.ownersOf(name))).toEqual(known);
          expect([owners.has(name), owners.isShared(name)]).toEqual([known.size > 0, known.size > 1]);
        }
      }),
    );
  });
});
