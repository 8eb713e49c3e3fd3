import { createHash } from 'node:crypto';

/**
 * When a public name has the server id as prefix. `conflict`: only if several servers have a tool, or a prompt, with
 * the same own name.
 */
export type NamingStyle = 'always' | 'conflict' | 'never';

const MAX_NAME_LENGTH = 64;
const DIGEST_LENGTH = 8;
/** The configuration refuses longer server ids. */
export const MAX_SERVER_ID_LENGTH = 64;

/** The tool names that model providers accept. */
const VALID_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const INVALID_CHARACTER = /[^A-Za-z0-9_-]/gu;
const ENDS_WITH_DIGEST = /_[0-9a-f]{8}$/;

export const prefixedName = (server: string, separator: string, ownName: string): string =>
  `${server}${separator}${ownName}`;

/**
 * Splits the name at every separator: yields each pair of server id and own name that would have this prefixed name.
 * Does not check that the server or the own name exists.
 */
export function* splitPrefixedName(name: string, separator: string): Iterable<readonly [string, string]> {
  for (
    let at = name.indexOf(separator);
    at !== -1 && at <= MAX_SERVER_ID_LENGTH;
    at = name.indexOf(separator, at + 1)
  )
    yield [name.slice(0, at), name.slice(at + separator.length)];
}

export const isValidPublicName = (name: string): boolean => VALID_NAME.test(name);

/** Whether a name looks like a result of `nameWithDigest`. If so, it may be the digest name of a tool or prompt. */
export const endsWithDigest = (name: string): boolean => ENDS_WITH_DIGEST.test(name);

export const nameWithoutDigest = (name: string): string => name.slice(0, -DIGEST_LENGTH - 1);

/**
 * Whether `nameWithDigest` cuts the name or replaces characters of it, so that `nameWithoutDigest` cannot restore it.
 */
export const isAlteredByDigest = (name: string): boolean =>
  name.length > MAX_NAME_LENGTH - DIGEST_LENGTH - 1 || !isValidPublicName(name);

/** The part before the digest in the result of `nameWithDigest`. */
export const textBeforeDigest = (name: string): string =>
  name.replace(INVALID_CHARACTER, '_').slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1);

/**
 * The digest name of a tool or prompt: a valid and unique name that ends with a digest of the server id and own name,
 * such as `github__search_1a2b3c4d`. It is the same in every process.
 */
export function nameWithDigest(name: string, server: string, ownName: string): string {
  const digest = createHash('sha256').update(`${server}\0${ownName}`).digest('hex').slice(0, DIGEST_LENGTH);
  return `${textBeforeDigest(name)}_${digest}`;
}

/** Returns `name` if it is valid, otherwise the digest name. */
export const validOrDigestName = (name: string, server: string, ownName: string): string =>
  isValidPublicName(name) ? name : nameWithDigest(name, server, ownName);
