import { isLoopback } from './loopback.js';

/**
 * Whether the URL is https, or http on loopback, so that responses cannot be forged. Credentials and a fragment are
 * refused.
 */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));
}

export const SECURE_URL_REQUIREMENT =
  'must be an https:// address (http:// only on loopback) without user or fragment';
