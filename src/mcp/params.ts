import { GatewayError } from '../core/errors.js';
import { mapMember, membersOf } from '../lib/json-text/json-text.js';
import type { Params } from './json-rpc.js';

export function requireString(params: Params | undefined, key: string): string {
  const value = params?.[key];
  if (typeof value !== 'string') throw new GatewayError('invalid-params', `${key} must be a string`);
  return value;
}

/**
 * The params with the server's own name or URI in the place of the public one. A key that only looks like it is
 * refused: a backend that reads keys with less care could take it for the real one, past every check here.
 */
export function withOwnValue(params: string | undefined, key: string, own: string): string {
  const text = params ?? '{}';
  const folded = fold(key);
  const members = membersOf(text);
  for (const member of members) {
    if (member.key !== key && fold(member.key) === folded)
      throw new GatewayError('invalid-params', `${JSON.stringify(member.key)} is too much like ${key}`);
  }
  return mapMember(text, key, () => JSON.stringify(own), members);
}

/**
 * What some parsers take for the same key: case, with its look-alikes (the long s, the Kelvin sign, both Turkish i),
 * marks, invisible characters, hyphens and underscores do not count, nor does anything after a NUL.
 */
function fold(key: string): string {
  // Nearly every key: nothing in it but its case could deceive.
  if (/^[a-zA-Z0-9]*$/.test(key)) return key.toLowerCase();
  return key
    .normalize('NFKD')
    .replace(/\0.*|[\p{M}\p{C}_-]/gsu, '')
    .toUpperCase()
    .toLowerCase();
}
