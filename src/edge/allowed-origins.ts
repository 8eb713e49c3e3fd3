import { isIPv6 } from 'node:net';

/** What a request says of where it comes from and where it thinks it goes. */
export interface RequestOrigin {
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);

/**
 * Guards against DNS rebinding: a web page whose name was made to point at us still sends its own name. Only known
 * hosts and origins pass; an empty list means only loopback.
 */
export class AllowedOrigins {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  /** Most clients call us by the same name. */
  private lastHost: string | undefined;

  constructor(settings: {
    host: string;
    allowedHosts: readonly string[];
    allowedOrigins: readonly string[];
  }) {
    const own = WILDCARD_ADDRESSES.has(settings.host) ? [] : [bracketed(settings.host)];
    this.hosts = new Set(
      [...LOOPBACK_NAMES, ...own, ...settings.allowedHosts.map(bracketed)].map((name) => name.toLowerCase()),
    );
    this.origins = new Set(settings.allowedOrigins.map((origin) => origin.toLowerCase()));
  }

  allowsHost(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (host === this.lastHost) return true;
    const name = host.toLowerCase();
    if (!this.hosts.has(name) && !this.hosts.has(withoutPort(name))) return false;
    this.lastHost = host;
    return true;
  }

  /** A request without an Origin was not made by a web page of another site. */
  allowsOrigin(origin: string | undefined): boolean {
    if (origin === undefined) return true;
    const name = origin.toLowerCase();
    if (this.origins.has(name)) return true;
    const match = /^https?:\/\/([^/?#@]+)$/.exec(name);
    return match !== null && LOOPBACK_NAMES.includes(withoutPort(match[1]!));
  }
}

/** As a Host header writes an address: the colons of IPv6 would be taken for that of a port. */
const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');
