import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { normalizeUri } from './equivalent-uri.js';

describe('normalizeUri', () => {
  it.each([
    ['lowers the scheme', 'FILE:///A/b', 'file:///A/b'],
    ['lowers the host', 'http://Example.COM:80/A?B#C', 'http://example.com:80/A?B#C'],
    ['keeps the case of user information', 'http://User@Example.com/A', 'http://User@example.com/A'],
    ['keeps the case of a path after an opaque scheme', 'URN:Isbn:A', 'urn:Isbn:A'],
    ['decodes unreserved characters', 'x://h/%41%7e%2D', 'x://h/A~-'],
    ['writes other encodings in upper case', 'x://h/a%2fb%c3%bc', 'x://h/a%2Fb%C3%BC'],
    ['decodes each encoding once', 'x://h/%2541', 'x://h/%2541'],
    ['keeps an incomplete encoding', 'x://h/%4', 'x://h/%4'],
    ['lowers a decoded host', 'x://%41/B', 'x://a/B'],
    ['keeps a text that is no URI', 'No Uri %41', 'No Uri A'],
  ])('%s', (_what, uri, normal) => {
    expect(normalizeUri(uri)).toBe(normal);
  });

  it('is idempotent for texts without incomplete encodings', () => {
    const piece = fc.constantFrom('A', 'b', ':', '/', '//', '%41', '%2f', '@', '?', '#', '*', '4', '1');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const normal = normalizeUri(pieces.join(''));
        expect(normalizeUri(normal)).toBe(normal);
      }),
    );
  });
});
