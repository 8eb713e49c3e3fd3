import { describe, expect, it } from '@jest/globals';
import { URIS_AT_THE_LIMIT } from '../../test/kit/uri-lengths.js';
import { UnlistedLinks } from './unlisted-links.js';

const at = (server: string, uri: string) => ({ server, uri });

describe('UnlistedLinks', () => {
  it('contains exactly the links that were added, by server and URI', () => {
    const links = new UnlistedLinks();
    links.add(at('a', 'x:1'));
    expect(links.has(at('a', 'x:1'))).toBe(true);
    expect(links.has(at('b', 'x:1'))).toBe(false);
    expect(links.has(at('a', 'x:2'))).toBe(false);
  });

  it('drops the oldest link of a server beyond the limit; adding a link again renews it', () => {
    const links = new UnlistedLinks(2);
    links.add(at('b', 'x:0'));
    for (const uri of ['x:1', 'x:2', 'x:1', 'x:3']) links.add(at('a', uri));
    const known = ['x:1', 'x:2', 'x:3'].filter((uri) => links.has(at('a', uri)));
    expect(known).toEqual(['x:1', 'x:3']);
    expect(links.has(at('b', 'x:0'))).toBe(true);
  });

  it('drops and reports the oldest links of a server beyond the characters', () => {
    let dropped = 0;
    const links = new UnlistedLinks(100, 10, () => dropped++);
    links.add(at('b', 'x:0'));
    for (const uri of ['x:1', 'x:2', 'x:2', 'x:45678']) links.add(at('a', uri));
    expect(['x:1', 'x:2', 'x:45678'].filter((uri) => links.has(at('a', uri)))).toEqual(['x:2', 'x:45678']);
    expect([dropped, links.has(at('b', 'x:0'))]).toEqual([1, true]);
  });

  it('holds at most 10,000 links per server', () => {
    let dropped = 0;
    const links = new UnlistedLinks(undefined, undefined, () => dropped++);
    for (let n = 0; n < 10_001; n++) links.add(at('a', `x:${n}`));
    expect([dropped, links.has(at('a', 'x:0')), links.has(at('a', 'x:1'))]).toEqual([1, false, true]);
  });

  it('holds at most two million characters per server', () => {
    const links = new UnlistedLinks();
    for (let n = 0; n < 1000; n++) links.add(at('a', `x:${n}`.padEnd(8000, 'x')));
    const held = Array.from({ length: 1000 }, (_, n) => `x:${n}`.padEnd(8000, 'x'));
    expect(held.filter((uri) => links.has(at('a', uri)))).toHaveLength(Math.floor(2_097_152 / 8000));
  });

  it.each(URIS_AT_THE_LIMIT)(
    'ignores a URI that is too long to be requested, in %s',
    (_what, longest, tooLong) => {
      const links = new UnlistedLinks();
      links.add(at('a', tooLong));
      expect([...links.servers]).toEqual([]);
      links.add(at('a', longest));
      expect(links.has(at('a', longest))).toBe(true);
    },
  );

  it('deletes the links of a server', () => {
    const links = new UnlistedLinks();
    links.add(at('a', 'x:1'));
    links.deleteServer('a');
    expect(links.has(at('a', 'x:1'))).toBe(false);
    expect([...links.servers]).toEqual([]);
  });
});
