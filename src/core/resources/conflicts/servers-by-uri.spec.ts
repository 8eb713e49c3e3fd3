import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { ServersByUri, shardIndexOf } from './servers-by-uri.js';

const uris = fc.constantFrom('', 'a', 'ab', 'x:1', 'x:2', '🚀');
const servers = fc.constantFrom('s', 't', 'u');
const changes = fc.array(fc.record({ uri: uris, server: servers }));

describe('ServersByUri', () => {
  it('returns the server whose URI becomes shared, or is listed by that server alone again', () => {
    fc.assert(
      fc.property(changes, (given) => {
        const serversByUri = new ServersByUri();
        const model = new Map<string, Set<string>>();
        for (const { uri, server } of given) {
          const known = model.get(uri) ?? new Set<string>();
          model.set(uri, known);
          const isRemoval = known.delete(server);
          const other = isRemoval ? serversByUri.delete(uri, server) : serversByUri.add(uri, server);
          expect(other).toBe(known.size === 1 ? [...known][0] : undefined);
          if (!isRemoval) known.add(server);
          expect(new Set(serversByUri.serversOf(uri))).toEqual(known);
          expect([serversByUri.has(uri), serversByUri.isShared(uri)]).toEqual([
            known.size > 0,
            known.size > 1,
          ]);
        }
      }),
    );
  });
});

describe('shardIndexOf', () => {
  it.each([
    ['file:///data/', '.json'],
    ['db://tables/', ''],
    ['http://a/', '/content/of/the/document'],
  ])('divides URIs of one length evenly: %s…%s', (prefix, suffix) => {
    const counts = Array.from({ length: 256 }, () => 0);
    for (let n = 100_000; n < 125_600; n++) counts[shardIndexOf(`${prefix}${n}${suffix}`)]!++;
    expect(Math.max(...counts)).toBeLessThan(200);
  });
});
