import { CommonServerConfig } from './common-server-config.js';
import { isProxyUrl } from './egress-proxies.js';
import { Choice, Integer, Section, Text, TextRecord } from './schema/keys.js';
import { Rule } from './schema/rule.js';

const HEADER_NAME = {
  pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  requirement: 'must be the name of an HTTP header',
};

const HEADER_VALUE = {
  pattern: /^[\t\x20-\x7e\x80-\xff]*$/,
  requirement: 'must be one line of Latin-1 characters without control characters',
};

const FILE = { mayBeLogged: true } as const;

/** Files in PEM format. A relative path is resolved against the working directory of the gateway. */
export class ServerTls {
  @Text(
    'File with the certificate authorities that are trusted for this server, instead of the public ones.',
    FILE,
  )
  readonly ca?: string;

  @Text('File with the client certificate.', FILE)
  readonly cert?: string;

  @Text('File with the private key of the client certificate.', FILE)
  readonly key?: string;
}

/** A server over Streamable HTTP or HTTP+SSE. */
export class HttpServerConfig extends CommonServerConfig {
  override readonly concurrency: number = 64;
  override readonly queue: number = 2_000;

  @Rule<string>(
    'era',
    (type, section) => type !== 'sse' || (section as CommonServerConfig).era !== '2026',
    'must be http with era: 2026, which has no HTTP+SSE',
  )
  @Choice(
    ['http', 'sse'],
    'Transport: Streamable HTTP, and HTTP+SSE if the server refuses Streamable HTTP with status 400, 404 or 405 (http); or ' +
      'only the deprecated HTTP+SSE (sse).',
    { 'streamable-http': 'http', streamableHttp: 'http' },
  )
  readonly type: 'http' | 'sse' = 'http';

  @Rule<string>(
    'url',
    isUrlWithoutCredentials,
    'must be a complete URL without user name and password; put credentials into headers',
  )
  @Text('URL of the MCP endpoint.', {
    rule: { pattern: /^https?:\/\//, requirement: 'must start with http:// or https://' },
    missingMessage: 'is required',
  })
  readonly url: string;

  @TextRecord(HEADER_NAME, 'HTTP headers of every request to the server, such as Authorization.', {
    rule: HEADER_VALUE,
  })
  readonly headers: Readonly<Record<string, string>> = {};

  @Integer(
    1_000,
    86_400_000,
    'Keep-alive interval in milliseconds: after an interval without a request in a session with the server, the gateway sends a ' +
      'ping in that session. Choose at most half of the time after which the server ends idle sessions; servers of the Rust ' +
      'SDK end them after five minutes.',
  )
  readonly keepAliveMs: number = 120_000;

  @Rule<string>('proxy', isProxyUrl, 'must be the http:// or https:// URL of a proxy')
  @Text(
    'Proxy for this server, instead of the one in HTTP_PROXY or HTTPS_PROXY, and regardless of NO_PROXY. Loopback is never ' +
      'reached through a proxy.',
  )
  readonly proxy?: string;

  @Rule<ServerTls>(
    'tls',
    ({ cert, key }) => (cert === undefined) === (key === undefined),
    'must contain both cert and key, or neither',
  )
  @Section(ServerTls, 'Certificates for https. The files are read again when they change.')
  readonly tls: ServerTls = new ServerTls();
}

function isUrlWithoutCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}
