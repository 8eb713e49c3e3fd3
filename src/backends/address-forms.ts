import { isIP } from 'node:net';

/** The forms of IPv6 addresses that embed an IPv4 address. */
const EMBEDDINGS: readonly {
  /** The first bytes of an address of this form. */
  readonly prefix: readonly number[];
  /** Index of the first of the four bytes of the IPv4 address. */
  readonly start: number;
  /** Whether every bit of the IPv4 address is inverted. */
  readonly isInverted?: true;
}[] = [
  // IPv4-mapped, IPv4-compatible and IPv4-translated.
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], start: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], start: 12 },
  { prefix: [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0], start: 12 },
  // NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056), and Teredo, which inverts the bits (RFC 4380).
  { prefix: [0, 0x64, 0xff, 0x9b], start: 12 },
  { prefix: [0x20, 0x02], start: 2 },
  { prefix: [0x20, 0x01, 0, 0], start: 12, isInverted: true },
];

/**
 * The address without its zone, followed by the IPv4 addresses that are embedded in it. Empty when the text is not an address.
 */
export function addressForms(text: string): string[] {
  const address = text.split('%', 1)[0]!;
  if (isIP(address) !== 6) return isIP(address) === 4 ? [address] : [];
  const bytes = bytesOf(address);
  // `::` and `::1` have the form of IPv4-compatible addresses, but embed no address. The same holds for the rest of `::/120`.
  if (bytes.slice(0, 15).every((byte) => byte === 0)) return [address];
  const embedded = EMBEDDINGS.filter(({ prefix }) =>
    prefix.every((byte, index) => bytes[index] === byte),
  ).map(({ start, isInverted }) =>
    bytes.slice(start, start + 4).map((byte) => (isInverted ? byte ^ 0xff : byte)),
  );
  // The marker of ISATAP (RFC 5214) is in the middle of the address.
  if (bytes[10] === 0x5e && bytes[11] === 0xfe) embedded.push(bytes.slice(12));
  return [address, ...embedded.map((parts) => parts.join('.'))];
}

/** The sixteen bytes of an IPv6 address. */
function bytesOf(address: string): number[] {
  // The class `URL` converts a trailing IPv4 address to hexadecimal groups.
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail)];
  // An address has eight groups. `::` stands for as many groups of zeros as are missing.
  const zeroCount = tail === undefined ? 0 : 8 - first.length - last.length;
  const zeros = Array.from({ length: zeroCount }, () => '0');
  return [...first, ...zeros, ...last].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The hexadecimal groups of a part of an address. */
const groupsOf = (part: string | undefined): string[] => (part ? part.split(':') : []);
