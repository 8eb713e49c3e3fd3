import { mapMember, memberText, membersOf } from '../lib/json-text/json-text.js';

/**
 * The progress token in a request's params, as it was written. Also one that JSON.parse would not see because its
 * `_meta` stands twice: a server may, and would report under a token that on its connection is somebody else's.
 */
export function progressTokenOf(params: string | undefined): string | undefined {
  // The key may be written with escapes.
  if (!params || !(params.includes('"progressToken"') || params.includes('\\u'))) return undefined;
  let token: string | undefined;
  for (const { key, start, end } of membersOf(params)) {
    if (key === '_meta' && params[start] === '{')
      token = memberText(params.slice(start, end), 'progressToken') ?? token;
  }
  return token;
}

/** The same params under another token: tokens are unique on one connection, so each hop has its own. */
export const withProgressToken = (params: string, token: string): string =>
  mapMember(params, '_meta', (meta) =>
    meta.startsWith('{') ? mapMember(meta, 'progressToken', () => token) : meta,
  );

/** The params of a progress notification under another token. */
export const progressUnder = (token: string, params: string): string =>
  mapMember(params, 'progressToken', () => token);
