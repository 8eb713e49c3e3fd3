import { BlockList, isIP } from 'node:net';

const BITS = { 4: 32, 6: 128 } as const;

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
  const match = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text);
  const version = isIP(match?.[1] ?? '');
  if (version !== 4 && version !== 6) return undefined;
  const prefixLength = Number(match![2] ?? BITS[version]);
  return prefixLength <= BITS[version] ? [match![1]!, prefixLength] : undefined;
}
