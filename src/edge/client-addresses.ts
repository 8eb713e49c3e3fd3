import type { IncomingMessage } from 'node:http';
import { isIP, type BlockList, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { networksOf } from '../config/network.js';

/** Maximum number of addresses that are read from X-Forwarded-For, from the right. */
const MAX_PROXIES = 16;
/** An IPv6 address has eight groups. A provider assigns the first four to a customer, whose hosts choose the others. */
const IPV6_NETWORK_GROUPS = 4;

/** The part of a request that identifies its sender. Requests of node:http and of Fastify have it. */
export type PeerRequest = Pick<IncomingMessage, 'headers'> & {
  readonly socket: Pick<Socket, 'remoteAddress'>;
};

/** Determines the network address of a client. Quotas tell clients without credentials apart by this address. */
@Injectable()
export class ClientAddresses {
  /**
   * The networks of the trusted proxies. `BlockList` is Node's type for a set of networks. Undefined if there are none.
   */
  private readonly trustedNetworks: BlockList | undefined;
  /** By socket: the quota key of a connection that does not come from a trusted proxy. */
  private readonly keysOfPeers = new WeakMap<PeerRequest['socket'], string>();

  constructor({ trustedProxies }: HttpSettings) {
    this.trustedNetworks = trustedProxies.length > 0 ? networksOf(trustedProxies) : undefined;
  }

  /**
   * The address of the client, or its /64 network for IPv6. Usually this is the remote address of the connection. If
   * the connection comes from a trusted proxy, it is the right-most address in X-Forwarded-For that is not a trusted
   * proxy.
   */
  networkOf({ socket, headers }: PeerRequest): string {
    const remote = addressOf(socket);
    if (!this.isTrusted(remote)) return networkOf(remote);
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
    return networkOf(this.clientOf(remote, forwarded.slice(-MAX_PROXIES)));
  }

  /** The key under which the quotas count an anonymous client. */
  quotaKeyOf(request: PeerRequest): string {
    return this.quotaKeyOfPeer(request.socket) ?? quotaKey(this.networkOf(request));
  }

  /**
   * The quota key of a connection. Undefined for a connection of a trusted proxy, because it may carry requests of
   * several clients. Only the headers of a request say which client sent the request.
   */
  quotaKeyOfPeer(socket: PeerRequest['socket']): string | undefined {
    const cachedKey = this.keysOfPeers.get(socket);
    if (cachedKey !== undefined) return cachedKey;
    const remote = addressOf(socket);
    if (this.isTrusted(remote)) return undefined;
    const key = quotaKey(networkOf(remote));
    this.keysOfPeers.set(socket, key);
    return key;
  }

  /**
   * `forwarded` has the values of X-Forwarded-For. Each proxy has appended the address from which it got the request.
   */
  private clientOf(remote: string, forwarded: readonly string[]): string {
    let client = remote;
    for (const text of forwarded.toReversed()) {
      const address = withoutPort(text.trim());
      // A proxy appends only addresses. An entry that is not an address was sent by the client, like all entries to the
      // left of this entry.
      if (isIP(address) === 0) break;
      client = address;
      if (!this.isTrusted(address)) break;
    }
    return client;
  }

  private isTrusted(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.trustedNetworks?.check(address, version === 6 ? 'ipv6' : 'ipv4') === true;
  }
}

/**
 * This key never equals the id of an authenticated principal: such an id has a colon before the first space, and this key
 * has no colon there.
 */
const quotaKey = (network: string): string => `address ${network}`;

/** The remote address without the zone of a link-local IPv6 address. */
const addressOf = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  remoteAddress.split('%', 1)[0]!;

/** The address without the port that some proxies add, as in `192.0.2.1:5678` and `[2001:db8::1]:5678`. */
const withoutPort = (text: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;

/** The /64 network of an IPv6 address. Any other address is returned as it is, and an IPv4-mapped one as IPv4. */
function networkOf(address: string): string {
  const mappedIPv4 = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mappedIPv4 !== undefined) return mappedIPv4;
  if (isIP(address) !== 6) return address;
  const network = groupsOf(address).slice(0, IPV6_NETWORK_GROUPS);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}

/** The eight groups of an IPv6 address, with the groups of zeros that `::` replaces. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail?.split(':').filter(Boolean) ?? [];
  const zeroCount = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array<string>(zeroCount).fill('0'), ...after];
}
