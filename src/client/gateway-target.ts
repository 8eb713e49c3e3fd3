import { isLoopback } from '../config/loopback.js';
import type { Environment } from '../config/source/interpolate.js';

/** The address of a gateway and the credentials for it. */
export interface GatewayTarget {
  /** Without a final slash. */
  readonly url: string;
  /** The admin token. */
  readonly token?: string;
  /** The API key for the MCP endpoint. */
  readonly key?: string;
}

export interface TargetOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly key?: string | undefined;
  /** Path of the configuration file of a gateway on this machine. */
  readonly config?: string | undefined;
}

/** A gateway on this machine. */
export interface LocalGateway {
  /** Missing with `http.port: 0`: only the running gateway knows its port. */
  readonly url?: string;
  readonly token?: string;
}

/**
 * Finds the gateway. Options take precedence over the environment, and the environment over the configuration on this
 * machine. The token of that configuration is never sent to another machine.
 */
export async function resolveGatewayTarget(
  options: TargetOptions,
  env: Environment,
  findLocal: (config: string | undefined) => Promise<LocalGateway>,
): Promise<GatewayTarget> {
  const url = nonEmpty(options.url) ?? nonEmpty(env['GATEHOUSE_URL']);
  const token = nonEmpty(options.token) ?? nonEmpty(env['GATEHOUSE_ADMIN_TOKEN']);
  const key = nonEmpty(options.key) ?? nonEmpty(env['GATEHOUSE_KEY']);
  const targetOf = (address: string, adminToken: string | undefined): GatewayTarget => ({
    url: normalizeGatewayUrl(address),
    ...(adminToken === undefined ? {} : { token: adminToken }),
    ...(key === undefined ? {} : { key }),
  });
  if (url !== undefined && (token !== undefined || !isLocal(url))) return targetOf(url, token);
  // With a URL, the configuration is needed only for the token. If it cannot be read, the request is sent without a token.
  const local: LocalGateway = await (url === undefined
    ? findLocal(options.config)
    : findLocal(options.config).catch(() => ({})));
  const address = url ?? local.url;
  if (address === undefined)
    throw new RangeError('the gateway uses any free port (http.port is 0): give its URL with --url');
  return targetOf(address, token ?? local.token);
}

/**
 * Returns the URL of the gateway, without a final slash. `text` is that URL, or the URL of the MCP endpoint or of the admin
 * API. Throws a RangeError for a text that is not an HTTP URL.
 */
export function normalizeGatewayUrl(text: string): string {
  const withScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(withScheme))
    throw new RangeError(`${text} is not a URL; use the form http://127.0.0.1:3000`);
  const url = new URL(withScheme);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RangeError(`${text} must start with http:// or https://`);
  return `${url.origin}${url.pathname.replace(/\/(mcp|admin(\/v1)?)?\/?$/, '')}`;
}

const isLocal = (url: string): boolean =>
  isLoopback(new URL(normalizeGatewayUrl(url)).hostname.replace(/^\[|\]$/g, ''));

const nonEmpty = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
