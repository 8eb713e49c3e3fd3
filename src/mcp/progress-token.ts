import { mapMember, memberText } from '../core/json-text.js';

/** The progress token in a request's params, as it was written. */
export function progressTokenOf(params: string | undefined): string | undefined {
  if (!params?.includes('"progressToken"')) return undefined;
  const meta = memberText(params, '_meta');
  return meta?.startsWith('{') ? memberText(meta, 'progressToken') : undefined;
}

/** The same params under another token: tokens are unique on one connection, so each hop has its own. */
export const withProgressToken = (params: string, token: string): string =>
  mapMember(params, '_meta', (meta) =>
    meta.startsWith('{') ? mapMember(meta, 'progressToken', () => token) : meta,
  );

/** The params of a progress notification under another token. */
export const progressUnder = (token: string, params: string): string =>
  mapMember(params, 'progressToken', () => token);
