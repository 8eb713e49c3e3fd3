import { isIP } from 'node:net';
import { isLoopback } from './loopback.js';
import { isNetwork, networksOf } from './network.js';

type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Why a connection through a proxy failed:
 * - `unreachable`: no connection to the proxy could be opened
 * - `timeout`: the proxy did not answer in time
 * - `closed`: the proxy closed the connection before it answered
 * - `refused`: the proxy answered CONNECT with an error
 * - `invalid`: the answer of the proxy is not HTTP, too long, or followed by further bytes
 */
export type ProxyFailure = (typeof PROXY_FAILURES)[number];
const PROXY_FAILURES = ['unreachable', 'timeout', 'closed', 'refused', 'invalid'] as const;

/** Whether one entry of NO_PROXY names the host. An entry is `*`, a network, or a domain, which includes its subdomains. */
type NoProxyRule = (host: string, port: string) => boolean;

/**
 * Selects the proxy for each request that the gateway makes. For a request to an MCP server, a proxy in the configuration of
 * that server takes precedence. For all other requests, `HTTP_PROXY` or `HTTPS_PROXY` names the proxy, and `NO_PROXY` names
 * the hosts that are reached without a proxy. Loopback is never reached through a proxy.
 */
export class EgressProxies {
  private readonly byProtocol: ReadonlyMap<string, URL | undefined>;
  private readonly noProxyRules: readonly NoProxyRule[];
  private readonly failures = new Map<ProxyFailure, number>(PROXY_FAILURES.map((reason) => [reason, 0]));
  private static instanceOfProcess: EgressProxies | undefined;

  /** The proxies in the environment of the process. Every call returns the same object, so that it counts all failures. */
  static ofProcess(): EgressProxies {
    this.instanceOfProcess ??= new EgressProxies(process.env);
    return this.instanceOfProcess;
  }

  /** Throws when `HTTP_PROXY` or `HTTPS_PROXY` is not the URL of a proxy. */
  constructor(env: ProxyEnvironment) {
    this.byProtocol = new Map(
      (['http', 'https'] as const).map((scheme) => [`${scheme}:`, proxyIn(env, `${scheme}_proxy`)]),
    );
    const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
    this.noProxyRules = noProxy
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(noProxyRuleOf);
  }

  countFailure(reason: ProxyFailure): void {
    this.failures.set(reason, this.failures.get(reason)! + 1);
  }

  /** Number of failed connections by reason. */
  failureCounts(): Iterable<readonly [reason: ProxyFailure, count: number]> {
    return this.failures;
  }

  /**
   * The proxy for a request to this URL; undefined for a direct connection. `serverProxy` is the proxy in the configuration
   * of the server, which is used regardless of NO_PROXY.
   */
  for(url: URL, serverProxy?: string): URL | undefined {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
    if (isLoopback(host)) return undefined;
    if (serverProxy !== undefined) return new URL(serverProxy);
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    if (this.noProxyRules.some((namesHost) => namesHost(host, port))) return undefined;
    return this.byProtocol.get(url.protocol);
  }
}

function proxyIn(env: ProxyEnvironment, name: string): URL | undefined {
  const value = env[name] || env[name.toUpperCase()];
  if (!value) return undefined;
  const text = value.includes('://') ? value : `http://${value}`;
  if (!isProxyUrl(text))
    throw new Error(`${name.toUpperCase()} must be the http:// or https:// URL of a proxy`);
  return new URL(text);
}

export const isProxyUrl = (text: string): boolean =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).hostname !== '';

function noProxyRuleOf(entry: string): NoProxyRule {
  if (entry === '*') return () => true;
  if (isNetwork(entry)) {
    const networks = networksOf([entry]);
    return (host) => isIP(host) !== 0 && networks.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  }
  // A domain, perhaps with a leading `.` or `*.` and with a port.
  const [, domain = '', port] = /^(?:\*?\.)?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  return (host, urlPort) =>
    (port === undefined || port === urlPort) && (host === domain || host.endsWith(`.${domain}`));
}
