import { createHash } from 'node:crypto';

/** When a public name has the server as prefix. `conflict`: only when several servers have the same own name. */
export type NamingStyle = 'always' | 'conflict' | 'never';

/** Model providers refuse longer tool names. */
const MAX_NAME_LENGTH = 64;
const DIGEST_LENGTH = 8;
const MAX_SERVER_ID_LENGTH = 64;

/** Control, format, private and separator characters: invisible in a list, and unsafe in a name. */
const UNSAFE = /[\p{C}\p{Z}]+/gu;

export const prefixedName = (server: string, separator: string, ownName: string): string =>
  `${server}${separator}${ownName}`;

/** Every pair of server and own name whose prefixed name is this name. Whether they exist is not checked. */
export function* splitPrefixedName(name: string, separator: string): Iterable<readonly [string, string]> {
  for (
    let at = name.indexOf(separator);
    at !== -1 && at <= MAX_SERVER_ID_LENGTH;
    at = name.indexOf(separator, at + 1)
  )
    yield [name.slice(0, at), name.slice(at + separator.length)];
}

export const isValidPublicName = (name: string): boolean =>
  name.length <= MAX_NAME_LENGTH && name.search(UNSAFE) === -1;

/** A valid and unique name, with a digest of server and own name. It is the same in every process. */
export function nameWithDigest(name: string, server: string, ownName: string): string {
  const digest = createHash('sha256').update(`${server}\0${ownName}`).digest('hex').slice(0, DIGEST_LENGTH);
  const cut = name.replace(UNSAFE, '_').slice(0, MAX_NAME_LENGTH - DIGEST_LENGTH - 1);
  const whole = cut.replace(/[\ud800-\udbff]$/, ''); // without half of a surrogate pair
  return `${whole}_${digest}`;
}
