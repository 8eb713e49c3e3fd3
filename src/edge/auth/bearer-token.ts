/** Maximum characters of a token. A longer token is refused before it is hashed. */
export const MAX_TOKEN_LENGTH = 8192;

const BEARER = /^bearer(?: +|$)/i;
const TOKEN = /^[\x21-\x7e]+$/;

type BearerToken =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'none' | 'malformed' | 'too-long' };

/** Reads the Authorization header. Another scheme, or Bearer without a token, counts as no token. */
export function readBearerToken(authorization: string | undefined): BearerToken {
  const scheme = BEARER.exec(authorization ?? '');
  if (!scheme) return { kind: 'none' };
  const token = authorization!.slice(scheme[0].length).trimEnd();
  if (token === '') return { kind: 'none' };
  if (token.length > MAX_TOKEN_LENGTH) return { kind: 'too-long' };
  return TOKEN.test(token) ? { kind: 'token', token } : { kind: 'malformed' };
}
