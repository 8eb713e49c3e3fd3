import { BlockList, isIP } from 'node:net';

interface Network {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly prefix: number;
}

/** Whether the text is an IP address or a network in CIDR notation. */
export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined;

/** `networks` were validated with `isNetwork`. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of networks) {
    const { address, prefix, family } = parseNetwork(text)!;
    list.addSubnet(address, prefix, family);
  }
  return list;
}

function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return undefined;
  const bits = version === 6 ? 128 : 32;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  return prefix <= bits ? { address, prefix, family: version === 6 ? 'ipv6' : 'ipv4' } : undefined;
}
