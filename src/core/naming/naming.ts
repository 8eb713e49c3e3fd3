import { createHash } from 'node:crypto';

/**
 * When a public name has the server as prefix. `conflict`: only when tools or prompts of several servers have the same own
 * name.
 */
export type NamingStyle = 'always' | 'conflict' | 'never';

const MAX_NAME_LENGTH = 64;
const DIGEST_LENGTH = 8;
/** The rule for server ids in the configuration has the same limit. */
export const MAX_SERVER_ID_LENGTH = 64;

/** Model providers accept only these tool names. */
const VALID = /^[A-Za-z0-9_-]{1,64}$/;
const INVALID_CHARACTER = /[^A-Za-z0-9_-]/gu;
const ENDS_WITH_DIGEST = /_[0-9a-f]{8}$/;

export const prefixedName = (server: string, separator: string, ownName: string): string =>
  `${server}${separator}${ownName}`;

/** Every pair of server and own name that has this prefixed name. Whether the server or the own name exists is not checked. */
export function* splitPrefixedName(name: string, separator: string): Iterable<readonly [string, string]> {
  for (
    let at = name.indexOf(separator);
    at !== -1 && at <= MAX_SERVER_ID_LENGTH;
    at = name.indexOf(separator, at + 1)
  )
    yield [name.slice(0, at), name.slice(at + separator.length)];
}

export const isValidPublicName = (name: string): boolean => VALID.test(name);

/** Whether a name looks like a result of `nameWithDigest`, so that another tool or prompt may have the same name. */
export const endsWithDigest = (name: string): boolean => ENDS_WITH_DIGEST.test(name);

export const nameWithoutDigest = (name: string): string => name.slice(0, -DIGEST_LENGTH - 1);

/** Whether `nameWithDigest` cuts or changes the name, so that `nameWithoutDigest` does not return it. */
export const isChangedByDigest = (name: string): boolean =>
  name.length > MAX_NAME_LENGTH - DIGEST_LENGTH - 1 || !isValidPublicName(name);

/** The text before the digest in `nameWithDigest`. */
export const textBeforeDigest = (name: string): string =>
  name.replace(INVALID_CHARACTER, '_').slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1);

/** A valid and unique name that ends with a digest of server and own name. It is the same in every process. */
export function nameWithDigest(name: string, server: string, ownName: string): string {
  const digest = createHash('sha256').update(`${server}\0${ownName}`).digest('hex').slice(0, DIGEST_LENGTH);
  return `${textBeforeDigest(name)}_${digest}`;
}

/** The name itself if it is valid, else the name with a digest. */
export const validName = (name: string, server: string, ownName: string): string =>
  isValidPublicName(name) ? name : nameWithDigest(name, server, ownName);
