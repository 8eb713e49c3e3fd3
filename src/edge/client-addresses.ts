import type { IncomingMessage } from 'node:http';
import { isIP, type BlockList, type Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpSettings } from '../config/http-settings.js';
import { networkList } from '../config/networks.js';

/** How many addresses of X-Forwarded-For are read, from the right. More proxies in a row are not trusted. */
const MAX_PROXIES = 16;
/** The part of an IPv6 address that is assigned to one customer; the rest is chosen by the host. */
const IPV6_GROUPS = 4;

/** Determines the address by which anonymous clients are told apart. */
@Injectable()
export class ClientAddresses {
  private readonly trusted: BlockList | undefined;

  constructor({ trustedProxies }: HttpSettings) {
    this.trusted = trustedProxies.length > 0 ? networkList(trustedProxies) : undefined;
  }

  /**
   * The quota key of the client: the remote address of the connection or, behind trusted proxies, the right-most address
   * of X-Forwarded-For that is not a trusted proxy. An IPv6 address counts with its whole /64 network.
   */
  quotaKeyOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const remote = addressOf(socket);
    if (!this.isTrusted(remote)) return quotaKey(remote);
    const forwarded = String(headers['x-forwarded-for'] ?? '').split(',', -1);
    return quotaKey(this.clientOf(remote, forwarded.slice(-MAX_PROXIES)));
  }

  /** The quota key of a connection before its first request; undefined for a proxy, whose clients are not known yet. */
  quotaKeyOfPeer(socket: Socket): string | undefined {
    const remote = addressOf(socket);
    return this.isTrusted(remote) ? undefined : quotaKey(remote);
  }

  private clientOf(remote: string, forwarded: readonly string[]): string {
    let client = remote;
    for (const text of forwarded.toReversed()) {
      const address = withoutPort(text.trim());
      // Whoever wrote this may have written everything to the left of it.
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

/** Ids of authenticated principals contain a colon before any space. */
const quotaKey = (address: string): string => `address ${networkOf(address)}`;

const addressOf = ({ remoteAddress = '' }: Socket): string => remoteAddress.split('%', 1)[0]!;

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
    .slice(0, IPV6_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
