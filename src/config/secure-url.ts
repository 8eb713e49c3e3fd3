import { isLoopback } from './loopback.js';

/** True for an address whose answers nobody on the way can forge: https, or this very machine. */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));
}

export const SECURE_URL_SAYS =
  'must be an https:// address (http:// only on loopback) without user or fragment';
