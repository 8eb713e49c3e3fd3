import { lookup, promises as dns } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { buildConnector } from 'undici';
import { AdminSettings } from '../config/admin-settings.js';
import { HttpSettings } from '../config/http-settings.js';
import { isLoopback } from '../config/loopback.js';
import { networksOf } from '../config/network.js';
import { Metrics } from '../metrics/metrics.js';
import { withTimeout } from '../lib/deadlines/timeout.js';
import { addressForms } from './address-forms.js';

/** The whole message of a refusal: it must not reveal names and addresses behind the gateway. */
export const REFUSED_BY_POLICY = 'refused by policy';

const RESOLVE_TIMEOUT_MS = 2000;

/** Link-local addresses, metadata services of clouds, and addresses that belong to no single host. No setting allows them. */
const FORBIDDEN = networksOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '::',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254',
  'fd20:ce::254',
]);

/**
 * Private addresses. If `admin.allowedNetworks` is configured, only the private addresses in it are allowed, otherwise all.
 * Public addresses are always allowed.
 */
const PRIVATE = networksOf([
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  '192.0.0.0/24',
  'fc00::/7',
  'fec0::/10',
]);

/**
 * Decides which addresses are allowed for a URL or proxy that was set through the admin API: the admin token must not give access
 * to services that only the machine of the gateway can reach. All addresses of a name are checked at each connection, and the
 * gateway connects only to a checked address. A name can therefore not change its address after the check (DNS rebinding).
 */
@Injectable()
export class AddressPolicy {
  /** `admin.allowedNetworks`; undefined if it is not configured. */
  private readonly allowedNetworks: ReturnType<typeof networksOf> | undefined;
  /** Whether the gateway listens on a loopback address only. */
  private readonly isLocalGateway: boolean;

  constructor(
    { allowedNetworks }: AdminSettings,
    { host }: HttpSettings,
    private readonly metrics: Metrics,
  ) {
    this.allowedNetworks = allowedNetworks.length > 0 ? networksOf(allowedNetworks) : undefined;
    this.isLocalGateway = isLoopback(host);
  }

  /** Whether the address, and each IPv4 address that is embedded in it, is allowed. */
  allows(address: string): boolean {
    const forms = addressForms(address);
    return forms.length > 0 && forms.every((form) => this.allowsForm(form));
  }

  /**
   * Whether all current addresses of the host are allowed. True if the name cannot be resolved: no connection is possible then,
   * and a later connection checks the addresses again.
   */
  async allowsHost(url: URL): Promise<boolean> {
    const isAllowed = await this.isHostAllowed(url);
    if (!isAllowed) this.metrics.countAddressRefusal('change');
    return isAllowed;
  }

  /** Like undici's `buildConnector`, but opens connections to allowed addresses only. */
  readonly createConnector = (options: buildConnector.BuildOptions = {}): buildConnector.connector => {
    const connect = buildConnector({ ...options, lookup: this.lookup });
    return (target, callback) => {
      const hostname = withoutBrackets(target.hostname);
      // Node does not call `lookup` for an address. The microtask makes the callback asynchronous, as in `connect`.
      if (isIP(hostname) !== 0 && !this.allows(hostname))
        queueMicrotask(() => callback(this.refuseConnection(), null));
      else connect(target, callback);
    };
  };

  private async isHostAllowed(url: URL): Promise<boolean> {
    const hostname = hostnameOf(url);
    if (isIP(hostname) !== 0) return this.allows(hostname);
    try {
      return (await addressesOf(hostname)).every((address) => this.allows(address));
    } catch {
      return true;
    }
  }

  /** Resolves with one address of the host. Rejects unless all addresses of the host are allowed. */
  async resolve(hostname: string): Promise<string> {
    const addresses = await addressesOf(withoutBrackets(hostname));
    if (!addresses.every((address) => this.allows(address))) throw this.refuseConnection();
    return addresses[0]!;
  }

  /** The option `lookup` of sockets. The lookup fails unless all addresses of the host are allowed. */
  private readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) callback(error ?? new Error('no address'), '');
      else if (!addresses.every(({ address }) => this.allows(address))) callback(this.refuseConnection(), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

  private refuseConnection(): Error {
    this.metrics.countAddressRefusal('connect');
    return new Error(REFUSED_BY_POLICY);
  }

  /** Without `admin.allowedNetworks`, loopback addresses are allowed only if the gateway itself listens on a loopback address. */
  private allowsForm(address: string): boolean {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (FORBIDDEN.check(address, family)) return false;
    const isLocal = isLoopback(address);
    if (!isLocal && !PRIVATE.check(address, family)) return true;
    if (this.allowedNetworks) return this.allowedNetworks.check(address, family);
    return !isLocal || this.isLocalGateway;
  }
}

/** All addresses of a host. */
async function addressesOf(hostname: string): Promise<string[]> {
  const records = await withTimeout(
    dns.lookup(hostname, { all: true }),
    RESOLVE_TIMEOUT_MS,
    () => new Error('the name was not resolved in time'),
  );
  return records.map(({ address }) => address);
}

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');
const hostnameOf = ({ hostname }: URL): string => withoutBrackets(hostname);
