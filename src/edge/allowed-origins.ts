import { isIPv6 } from 'node:net';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const WILDCARD_ADDRESSES = new Set(['0.0.0.0', '::', '[::]']);

/**
 * Hosts and origins that may reach the gateway; with empty lists, loopback only. Against DNS rebinding: a page whose
 * name resolves to the gateway still sends its own name in Host and Origin.
 */
export class AllowedOrigins {
  private readonly hosts: ReadonlySet<string>;
  private readonly origins: ReadonlySet<string>;
  /** Most requests name the same host. */
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

/** The form of an address in a Host header, where a bare colon begins the port. */
const bracketed = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const withoutPort = (host: string): string => host.replace(/:\d{1,5}$/, '');
