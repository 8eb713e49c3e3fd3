import { isNetwork } from './network.js';
import { Flag, Text, TextList, Integer } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const ORIGIN = {
  pattern: /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/,
  requirement: 'must be an origin like https://app.example.com, without path or final slash',
};

/** Listening address, and accepted Host and Origin headers. */
export class HttpSettings {
  @Text('Address to listen on. An address beyond loopback requires auth or allowRemoteWithoutAuth.', {
    mayBeLogged: true,
  })
  readonly host: string = '127.0.0.1';

  @Integer(0, 65535, 'Port to listen on; 0 selects a free port.')
  readonly port: number = 3000;

  @TextList(
    'Accepted Host headers besides those of loopback: the names under which clients reach the gateway.',
    {
      rule: { pattern: /^[^\s/@]+$/, requirement: 'must be a host or host:port, without scheme or path' },
      mayBeLogged: true,
    },
  )
  readonly allowedHosts: readonly string[] = [];

  @TextList(
    'Origins of web pages that may use the gateway. A request without an Origin header needs no entry.',
    {
      rule: ORIGIN,
      mayBeLogged: true,
    },
  )
  readonly allowedOrigins: readonly string[] = [];

  @Rule<readonly string[]>(
    'networks',
    (networks) => networks.every(isNetwork),
    'every item must be an IP address or a network like 10.0.0.0/8',
  )
  @TextList(
    'Reverse proxies, as addresses or networks (CIDR), whose X-Forwarded-For names the address of the client. ' +
      'Without authentication, limits per principal count by that address.',
    { mayBeLogged: true },
  )
  readonly trustedProxies: readonly string[] = [];

  @Flag('Whether the gateway may listen beyond loopback without authentication.')
  readonly allowRemoteWithoutAuth: boolean = false;

  @Flag(
    'Whether clients of revision 2026-07-28 are served too. If not, they fall back to 2025-11-25, unless they pin the revision.',
  )
  readonly modern: boolean = true;
}
