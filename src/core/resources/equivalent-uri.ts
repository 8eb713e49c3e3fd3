/** Groups: the scheme; `//` and the user information; host and port. The last two are absent without an authority. */
const SCHEME_AND_HOST = /^([A-Za-z][A-Za-z0-9+.-]*:)(?:(\/\/(?:[^/?#@]*@)?)([^/?#]*))?/;
/** A URI with scheme and host in lower case and without percent-encoding. Nearly every URI is like this. */
const NORMAL_URI = /^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#%A-Z]*(?:[/?#][^%]*)?|(?!\/\/)[^%]*)$/;
const PERCENT_ENCODED = /%[0-9A-Fa-f]{2}/g;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/**
 * The normal form of a URI by RFC 3986, sections 6.2.2.1 and 6.2.2.2: scheme and host are in lower case, and only
 * characters that need it are percent-encoded, with upper-case hex digits. Equivalent URIs have the same normal form.
 */
export function normalizeUri(uri: string): string {
  if (NORMAL_URI.test(uri)) return uri;
  const decoded = uri.includes('%') ? uri.replace(PERCENT_ENCODED, normalizeEncoded) : uri;
  return decoded.replace(SCHEME_AND_HOST, (_, scheme: string, userInfo = '', host = '') => {
    const lowerCaseHost = (host as string).toLowerCase();
    // The conversion to lower case has changed percent-encoding in the host too.
    return scheme.toLowerCase() + userInfo + lowerCaseHost.replace(PERCENT_ENCODED, normalizeEncoded);
  });
}

function normalizeEncoded(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return UNRESERVED.test(character) ? character : encoded.toUpperCase();
}
