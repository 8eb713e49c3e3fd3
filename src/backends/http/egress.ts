import type { OnReadOpts } from 'node:net';
import { buildConnector, errors } from 'undici';
import type { EgressProxies } from '../../config/egress-proxies.js';
import type { AddressPolicy } from '../address-policy.js';
import { withTlsFiles, type TlsFiles } from './tls-files.js';
import { Tunnel, type TunnelError } from './tunnel.js';

type CreateConnector = typeof buildConnector;

const DEFAULT_TIMEOUT_MS = 5000;

/** A proxy that gets requests in absolute form (RFC 9112, 3.2.2). */
export interface ForwardProxy {
  readonly authorization: string | undefined;
}

/** How connections to a server are opened. */
export interface Egress {
  readonly createConnector: CreateConnector;
  /** Set when requests are sent to a proxy, and not through a tunnel. */
  readonly forwardProxy?: ForwardProxy;
}

interface EgressOptions {
  readonly proxies: EgressProxies;
  /** Set for a server that was added through the admin API: only addresses that the policy allows are connected to. */
  readonly policy: AddressPolicy | undefined;
  readonly tls: TlsFiles | undefined;
}

/**
 * Connects directly, or through a proxy: https through a tunnel, http in absolute form. Under a policy, http uses a tunnel
 * too: the gateway names the address that it has checked, and a proxy would replace the Host header by that address.
 */
export function egressOf(
  config: { readonly url: string; readonly proxy?: string | undefined },
  { proxies, policy, tls }: EgressOptions,
): Egress {
  const secure = (create: CreateConnector): CreateConnector => (tls ? withTlsFiles(create, tls) : create);
  const url = new URL(config.url);
  const proxy = proxies.for(url, config.proxy);
  if (!proxy) return { createConnector: secure(policy?.createConnector ?? buildConnector) };
  // A proxy of the environment is trusted; one that an administrator named is subject to the policy.
  const toProxy = (config.proxy === undefined ? undefined : policy?.createConnector) ?? buildConnector;
  const counted = countingFailures(toProxy, proxies);
  const authorization = authorizationOf(proxy);
  if (url.protocol === 'http:' && !policy)
    return { createConnector: forwardConnector(proxy, counted), forwardProxy: { authorization } };
  const onRefused = ({ reason }: TunnelError): void => proxies.countFailure(reason);
  return {
    createConnector: secure(tunnelConnector({ proxy, toProxy: counted, authorization, policy, onRefused })),
  };
}

/** Counts connections to a proxy that cannot be opened. */
const countingFailures =
  (create: CreateConnector, proxies: EgressProxies): CreateConnector =>
  (options) => {
    const connect = create(options);
    return (target, callback) =>
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

/** The options of the socket to a proxy: without the TLS options, which are for the server. */
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
  readonly onRefused: (error: TunnelError) => void;
}

const tunnelConnector =
  ({ proxy, toProxy, authorization, policy, onRefused }: TunnelOptions): CreateConnector =>
  (options = {}) =>
  (target, callback) => {
    const { timeout = DEFAULT_TIMEOUT_MS, onread } = socketOptions(options);
    const isTls = target.protocol === 'https:';
    const fail = (error: Error): void => callback(error, null);
    const open = (host: string): void => {
      const tunnel = new Tunnel();
      const plainReads = onread && !isTls ? tunnel.wrap(onread) : undefined;
      toProxy({ timeout, ...(plainReads && { onread: plainReads }) })(addressOf(proxy), (error, socket) => {
        if (!socket) return fail(error);
        tunnel.open(
          socket,
          { authority: authorityOf(host, target), authorization, timeoutMs: timeout },
          (refused) => {
            if (refused) {
              onRefused(refused);
              fail(refused);
            } else if (isTls) upgrade(options, { ...target, httpSocket: socket }, callback);
            else callback(null, socket);
          },
        );
      });
    };
    if (policy) policy.resolve(target.hostname).then(open, fail);
    else open(target.hostname);
  };

/** Starts TLS in a tunnel. Node ignores `onread` of a TLS socket over an existing socket, so data events are passed on to it. */
function upgrade(
  options: buildConnector.BuildOptions,
  target: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  const { onread } = socketOptions(options);
  buildConnector(options)(target, (...[error, socket]) => {
    if (!socket) return callback(error, socket);
    if (onread) socket.on('data', (chunk: Buffer) => passOn(chunk, onread));
    callback(null, socket);
  });
}

function passOn(chunk: Buffer, onread: OnReadOpts): void {
  const target = onread.buffer as Uint8Array;
  for (let at = 0; at < chunk.length; at += target.length)
    onread.callback(chunk.copy(target, 0, at, at + target.length), target);
}

function authorityOf(host: string, { protocol, port }: buildConnector.Options): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `${name}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
