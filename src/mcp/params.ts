import { GatewayError } from '../core/errors.js';
import { mapMember, membersOf } from '../core/json-text.js';
import type { Params } from './json-rpc.js';

export function requireString(params: Params | undefined, key: string): string {
  const value = params?.[key];
  if (typeof value !== 'string') throw new GatewayError('invalid-params', `${key} must be a string`);
  return value;
}

/**
 * The params with the server's own name or URI in the place of the public one. A key that differs only by case is
 * refused: a backend that reads keys without regard to case could take it for the real one, past every check here.
 */
export function withOwnValue(params: string | undefined, key: string, own: string): string {
  const text = params ?? '{}';
  for (const member of membersOf(text)) {
    if (member.key !== key && fold(member.key) === key)
      throw new GatewayError('invalid-params', `${JSON.stringify(member.key)} is too much like ${key}`);
  }
  return mapMember(text, key, () => JSON.stringify(own));
}

/** NFKC turns look-alikes such as the long s and the Kelvin sign into the letters some parsers take them for. */
const fold = (key: string): string => key.normalize('NFKC').toLowerCase();
