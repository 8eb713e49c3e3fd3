import type { OnReadOpts } from 'node:net';
import { buildConnector, errors } from 'undici';
import type { EgressProxies } from '../../config/egress-proxies.js';
import type { AddressPolicy } from '../address-policy.js';
import { withTlsFiles, type TlsFiles } from './tls-files.js';
import { Tunnel, type TunnelError } from './tunnel.js';

type CreateConnector = typeof buildConnector;

/** Timeout of a tunnel, if the options of the connector have none. */
const DEFAULT_TIMEOUT_MS = 5000;

/** A proxy to which requests are sent with the whole URL as their target (RFC 9112, 3.2.2). */
export interface ForwardProxy {
  /** The value of the header `proxy-authorization`. */
  readonly authorization: string | undefined;
}

/** How connections to a server are opened. */
export interface Egress {
  readonly createConnector: CreateConnector;
  /** Defined only if requests are sent to a proxy without a tunnel. */
  readonly forwardProxy?: ForwardProxy;
}

interface EgressOptions {
  readonly proxies: EgressProxies;
  /** Defined if the URL or proxy was set through the admin API. Connections go only to addresses that the policy allows. */
  readonly policy: AddressPolicy | undefined;
  readonly tls: TlsFiles | undefined;
}

/**
 * Decides how connections to a server are opened: directly or through a proxy. With a proxy, https uses a tunnel, and http sends
 * requests with the whole URL as their target. With a policy, http uses a tunnel too: the CONNECT request then names the address
 * that the gateway has checked. Without a tunnel, the URL in the request would have to contain that address instead of the host
 * name, and the proxy would put the address into the Host header.
 */
export function egressOf(
  config: { readonly url: string; readonly proxy?: string | undefined },
  { proxies, policy, tls }: EgressOptions,
): Egress {
  const addTlsFiles = (create: CreateConnector): CreateConnector =>
    tls ? withTlsFiles(create, tls) : create;
  const url = new URL(config.url);
  const proxy = proxies.for(url, config.proxy);
  if (!proxy) return { createConnector: addTlsFiles(policy?.createConnector ?? buildConnector) };
  // A proxy of the gateway's environment is trusted. A proxy that an administrator named is subject to the policy.
  const proxyPolicy = config.proxy === undefined ? undefined : policy;
  const toProxy = countingFailures(proxyPolicy?.createConnector ?? buildConnector, proxies);
  const authorization = authorizationOf(proxy);
  if (url.protocol === 'http:' && !policy)
    return { createConnector: forwardConnector(proxy, toProxy), forwardProxy: { authorization } };
  const onTunnelFailure = ({ reason }: TunnelError): void => proxies.countFailure(reason);
  return {
    createConnector: addTlsFiles(tunnelConnector({ proxy, toProxy, authorization, policy, onTunnelFailure })),
  };
}

/** Like `create`, for connections to a proxy: counts those that cannot be opened. */
const countingFailures =
  (create: CreateConnector, proxies: EgressProxies): CreateConnector =>
  (options) => {
    const connect = create(options);
    return (target, callback) =>
      // Rest parameters, so that the compiler infers `error` from the absence of `socket`.
      connect(target, (...[error, socket]) => {
        if (socket) return callback(null, socket);
        proxies.countFailure(error instanceof errors.ConnectTimeoutError ? 'timeout' : 'unreachable');
        callback(error, null);
      });
  };

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

/** The options that apply to the socket of a proxy. The TLS options are for the server. */
function socketOptions(options: buildConnector.BuildOptions): { timeout?: number; onread?: OnReadOpts } {
  const { timeout, onread } = options as { timeout?: number; onread?: OnReadOpts };
  return { ...(timeout !== undefined && { timeout }), ...(onread && { onread }) };
}

const addressOf = ({ hostname, host, protocol, port }: URL): buildConnector.Options => ({
  hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
  host,
  protocol,
  port,
});

/** Connects to the proxy for every target. */
const forwardConnector =
  (proxy: URL, toProxy: CreateConnector): CreateConnector =>
  (options = {}) => {
    const connect = toProxy(socketOptions(options));
    return (_target, callback) => connect(addressOf(proxy), callback);
  };

interface TunnelOptions {
  readonly proxy: URL;
  readonly toProxy: CreateConnector;
  readonly authorization: string | undefined;
  readonly policy: AddressPolicy | undefined;
  readonly onTunnelFailure: (error: TunnelError) => void;
}

/** Opens a tunnel through the proxy to the target. If the target uses https, starts TLS in the tunnel. */
const tunnelConnector =
  ({ proxy, toProxy, authorization, policy, onTunnelFailure }: TunnelOptions): CreateConnector =>
  (options = {}) =>
  (target, callback) => {
    const { timeout = DEFAULT_TIMEOUT_MS, onread } = socketOptions(options);
    const isTls = target.protocol === 'https:';
    const fail = (error: Error): void => callback(error, null);
    const open = (host: string): void => {
      const tunnel = new Tunnel();
      const wrapped = onread && !isTls ? tunnel.wrap(onread) : undefined;
      toProxy({ timeout, ...(wrapped && { onread: wrapped }) })(addressOf(proxy), (error, socket) => {
        if (!socket) return fail(error);
        tunnel.open(
          socket,
          { authority: authorityOf(host, target), authorization, timeoutMs: timeout },
          (failure) => {
            if (failure) {
              onTunnelFailure(failure);
              fail(failure);
            } else if (isTls) startTls(options, { ...target, httpSocket: socket }, callback);
            else callback(null, socket);
          },
        );
      });
    };
    if (policy) policy.resolve(target.hostname).then(open, fail);
    else open(target.hostname);
  };

/**
 * Starts TLS in a tunnel. Node ignores the option `onread` of a TLS socket over an existing socket. The callback of the option is
 * therefore called with the chunks of the data events.
 */
function startTls(
  options: buildConnector.BuildOptions,
  target: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  const { onread } = socketOptions(options);
  buildConnector(options)(target, (...[error, socket]) => {
    if (!socket) return callback(error, socket);
    if (onread) socket.on('data', (chunk: Buffer) => callOnRead(chunk, onread));
    callback(null, socket);
  });
}

/** Copies the chunk into the buffer of `onread`, piece by piece, and calls the callback for each piece. */
function callOnRead(chunk: Buffer, onread: OnReadOpts): void {
  const buffer = onread.buffer as Uint8Array;
  for (let start = 0; start < chunk.length; start += buffer.length) {
    const count = chunk.copy(buffer, 0, start, start + buffer.length);
    onread.callback(count, buffer);
  }
}

function authorityOf(host: string, { protocol, port }: buildConnector.Options): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `${name}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
