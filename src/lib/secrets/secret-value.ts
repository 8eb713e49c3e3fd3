/** Words in the name of an option, variable or header that make its value a secret. */
const SECRET_WORDS = new Set(
  (
    'apikey auth authorization bearer cookie credential credentials jwt key pass passphrase passwd password pat pwd secret ' +
    'secrets sig signature token'
  ).split(' '),
);
/** Last words of names whose value only describes a secret, such as `token-url` and `key-file`. */
const DESCRIBING_WORDS = new Set(
  'dir endpoint expiry file header id issuer length method name path prefix ttl timeout type uri url'.split(
    ' ',
  ),
);

/** Minimum length of a secret. Shorter values occur in ordinary text. */
const MIN_LENGTH = 8;
/** Minimum length of a secret whose name says that it is one. */
const MIN_NAMED_LENGTH = 6;
/**
 * A slug is words and short numbers joined by `-` or `_`. A slug that exceeds one of these limits may be a passphrase.
 */
const MAX_SLUG_LENGTH = 24;
const MAX_SLUG_PARTS = 3;
/** Minimum length of a key, and of one that begins with a well-known prefix. */
const MIN_KEY_LENGTH = 20;
const MIN_PREFIXED_KEY_LENGTH = 16;

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const IPV6 = /^[0-9a-f]{0,4}(:[0-9a-f]{0,4}){2,7}$/i;
const WORD = /^[A-Za-z]{1,20}$/;
/** A part of a slug such as `us-east-1` or `gpt-4o-mini`. */
const SLUG_PART = /^([A-Za-z]{1,20}\d{0,4}|\d{1,4}[A-Za-z]?)$/;
const NUMBER = /^[+-]?\d+(\.\d+)?[A-Za-z%]{0,3}$/;
const DATE = /^\d{4}-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/;
const OPTION = /^--?[A-Za-z][\w-]*$/;
const PATH_PART = /^[\w.@+~ -]*$/;
const URL_WITHOUT_SECRETS = /^[a-z][a-z0-9+.-]*:\/\/[^\s:/?#@]+(:\d{1,5})?((?:\/[\w.~-]*)*)$/i;
/** Prefixes of keys that well-known services issue. */
const KEY_PREFIX =
  /^([spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza|hf_|npm_|ya29|eyJ)/;

/** Whether the value of an option, variable or header with this name is a secret. */
export function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return words.some((word) => SECRET_WORDS.has(word)) && !DESCRIBING_WORDS.has(words.at(-1)!);
}

/**
 * Whether a configured value must be removed from logs and responses wherever it occurs. Words, IP addresses, names of cloud
 * regions, paths and the like are no secrets, because ordinary text contains them. `names` are the names under which the
 * value is configured.
 */
export function isSecretValue(value: string, names: readonly string[]): boolean {
  if (WORD.test(value) || isAddress(value) || OPTION.test(value)) return false;
  if (names.some(isSecretName)) return value.length >= MIN_NAMED_LENGTH;
  return value.length >= MIN_LENGTH && (KEY_PREFIX.test(value) || !isHarmless(value));
}

/** Whether a token of letters, digits, `_` and `-` is random, as keys are, and not made of words and short numbers. */
export function looksLikeKey(token: string): boolean {
  if (KEY_PREFIX.test(token)) return token.length >= MIN_PREFIXED_KEY_LENGTH;
  return token.length >= MIN_KEY_LENGTH && /\d/.test(token) && /[A-Za-z]/.test(token) && !isSlug(token);
}

/** Whether the value is a number, a date, a short slug, a path or a URL, and contains nothing that looks like a key. */
function isHarmless(value: string): boolean {
  if (NUMBER.test(value) || DATE.test(value)) return true;
  const parts = value.split(/[-_]/).length;
  if (value.length <= MAX_SLUG_LENGTH && parts > 1 && parts <= MAX_SLUG_PARTS && isSlug(value)) return true;
  const url = URL_WITHOUT_SECRETS.exec(value);
  if (url) return isPath(url[2] ?? '');
  const startsLikePath = /^(\.{0,2}|~|[A-Za-z]:)[/\\]/.test(value);
  return startsLikePath ? isPath(value) : isRelativePath(value);
}

const isSlug = (text: string): boolean => text.split(/[-_]/).every((part) => SLUG_PART.test(part));

/** Whether the text is a path without a part that looks like a key. The URLs of some services have a key in their path. */
const isPath = (text: string): boolean =>
  text.split(/[/\\]/).every((part) => PATH_PART.test(part) && !looksLikeKey(part));

/** Whether the text is a relative path of slugs. A media type, such as `text/plain`, counts as one. */
const isRelativePath = (text: string): boolean =>
  text.includes('/') && text.split('/').every((part) => part.split('.').every(isSlug));

/** Whether the text is an IP address, perhaps with a port or prefix length. */
function isAddress(text: string): boolean {
  const host = text.replace(/(:\d{1,5}|\/\d{1,3})$/, '').replace(/^\[(.*)\]$/, '$1');
  return [text, host].some((address) => IPV4.test(address) || IPV6.test(address));
}
