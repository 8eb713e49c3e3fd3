/** Scheme, then the delimiter and user information of an authority, then its host and port. */
const SCHEME_AND_HOST = /^([A-Za-z][A-Za-z0-9+.-]*:)(?:(\/\/(?:[^/?#@]*@)?)([^/?#]*))?/;
/** A scheme and host in lower case, without percent-encoding anywhere: nearly every URI. */
const NORMAL = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#%A-Z]*(?:[/?#][^%]*)?|(?!\/\/)[^%]*)$/;
const PERCENT_ENCODED = /%[0-9A-Fa-f]{2}/g;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * The normal form of a URI by RFC 3986, 6.2.2.1 and 6.2.2.2: scheme and host in lower case, percent-encoding in upper case
 * and only of characters that need it. Equivalent URIs have the same normal form.
 */
export function normalizeUri(uri: string): string {
  if (NORMAL.test(uri)) return uri;
  const decoded = uri.includes('%') ? uri.replace(PERCENT_ENCODED, normalizeEncoded) : uri;
  return decoded.replace(SCHEME_AND_HOST, (_, scheme: string, userInfo = '', host = '') => {
    const lowered = (host as string).toLowerCase();
    return scheme.toLowerCase() + userInfo + lowered.replace(PERCENT_ENCODED, normalizeEncoded);
  });
}

function normalizeEncoded(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return UNRESERVED.test(character) ? character : encoded.toUpperCase();
}
