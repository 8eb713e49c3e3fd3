import { BlockList, isIP } from 'node:net';

/** Length of an address in bits, by IP version. */
const ADDRESS_BITS = { 4: 32, 6: 128 } as const;

/** A set of networks in CIDR notation; an address without a prefix length is a network of one address. */
export function networksOf(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address, prefixLength] = parseNetwork(text)!;
    networks.addSubnet(address, prefixLength, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return networks;
}

export const isNetwork = (text: string): boolean => parseNetwork(text) !== undefined;

function parseNetwork(text: string): [address: string, prefixLength: number] | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  if (version !== 4 && version !== 6) return undefined;
  const prefixLength = Number(prefix ?? ADDRESS_BITS[version]);
  return prefixLength <= ADDRESS_BITS[version] ? [address, prefixLength] : undefined;
}
