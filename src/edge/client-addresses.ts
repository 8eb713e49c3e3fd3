import type { IncomingMessage } from 'node:http';
import { isIP, type BlockList, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { networksOf } from '../config/network.js';

/** How many addresses of X-Forwarded-For are read, from the right. A chain of more proxies is not trusted. */
const MAX_PROXIES = 16;
/** How many of the eight groups of an IPv6 address are assigned to one customer, whose hosts choose the others. */
const IPV6_NETWORK_GROUPS = 4;

/** The part of a request that identifies its sender; node:http and Fastify both provide it. */
export type PeerRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: Pick<Socket, 'remoteAddress'>;
};

/** Determines the network address of a client. Clients without credentials are distinguished by it. */
@Injectable()
export class ClientAddresses {
  /** The networks of the trusted proxies, for which `BlockList` is Node's set type; undefined if there are none. */
  private readonly trusted: BlockList | undefined;
  /** The quota keys of connections that do not come from a trusted proxy. */
  private readonly keysOfPeers = new WeakMap<PeerRequest['socket'], string>();

  constructor({ trustedProxies }: HttpSettings) {
    this.trusted = trustedProxies.length > 0 ? networksOf(trustedProxies) : undefined;
  }

  /**
   * The address of the client: the remote address of the connection or, behind trusted proxies, the right-most address of
   * X-Forwarded-For that is not a trusted proxy. For IPv6 it is the /64 network of the address.
   */
  networkOf({ socket, headers }: PeerRequest): string {
    const remote = addressOf(socket);
    if (!this.isTrusted(remote)) return networkOf(remote);
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    return networkOf(this.clientOf(remote, forwarded.slice(-MAX_PROXIES)));
  }

  quotaKeyOf(request: PeerRequest): string {
    return this.quotaKeyOfPeer(request.socket) ?? quotaKey(this.networkOf(request));
  }

  /** The quota key of a connection before its first request; undefined for a proxy, whose clients are not known yet. */
  quotaKeyOfPeer(socket: PeerRequest['socket']): string | undefined {
    const known = this.keysOfPeers.get(socket);
    if (known !== undefined) return known;
    const remote = addressOf(socket);
    if (this.isTrusted(remote)) return undefined;
    const key = quotaKey(networkOf(remote));
    this.keysOfPeers.set(socket, key);
    return key;
  }

  private clientOf(remote: string, forwarded: readonly string[]): string {
    let client = remote;
    for (const text of forwarded.toReversed()) {
      const address = withoutPort(text.trim());
      // A text that is no address was written by the client, and so was everything to the left of it.
      if (isIP(address) === 0) break;
      client = address;
      if (!this.isTrusted(address)) break;
    }
    return client;
  }

  private isTrusted(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.trusted?.check(address, version === 6 ? 'ipv6' : 'ipv4') === true;
  }
}

/** Never equals the id of an authenticated principal, which contains a colon before any space. */
const quotaKey = (network: string): string => `address ${network}`;

const addressOf = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  remoteAddress.split('%', 1)[0]!;

/** Some proxies add the port: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const withoutPort = (text: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;

function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = address.toLowerCase().split('::');
  const groups = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length);
  const all = [...groups, ...Array<string>(zeros).fill('0'), ...after];
  return `${all
    .slice(0, IPV6_NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
