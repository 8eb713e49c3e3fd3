import { mapMember, memberText, membersOf } from '../lib/json-text/json-text.js';

/**
 * The progress token in the params of a request, as it was written. Every `_meta` member is searched, not only the last
 * one as JSON.parse does: a server may read the first, and its token could be that of another client's call.
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

/** The params with another token: tokens are unique per connection, so each hop has its own. */
export const withProgressToken = (params: string, token: string): string =>
  mapMember(params, '_meta', (meta) =>
    meta.startsWith('{') ? mapMember(meta, 'progressToken', () => token) : meta,
  );

/** The params of a progress notification with another token. */
export const progressUnder = (token: string, params: string): string =>
  mapMember(params, 'progressToken', () => token);
