import { isLoopback } from '../config/loopback.js';

/** Where a gateway is and what lets us in. */
export interface GatewayTarget {
  /** Without a final slash. */
  readonly url: string;
  /** Of an administrator. */
  readonly token?: string;
  /** Of a client, for the MCP endpoint. */
  readonly key?: string;
}

export interface TargetOptions {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly key?: string | undefined;
  /** The configuration of a gateway on this machine. */
  readonly config?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What a gateway on this machine can be found by. */
export interface LocalGateway {
  readonly url: string;
  readonly token?: string;
}

/**
 * What was said on the command line goes first, then the environment, then the configuration of the gateway here. A
 * token that was only found is not sent to another machine.
 */
export async function resolveGatewayTarget(
  options: TargetOptions,
  env: Environment,
  findLocal: (config: string | undefined) => Promise<LocalGateway>,
): Promise<GatewayTarget> {
  const url = given(options.url) ?? given(env['GATEHOUSE_URL']);
  const token = given(options.token) ?? given(env['GATEHOUSE_ADMIN_TOKEN']);
  const key = given(options.key) ?? given(env['GATEHOUSE_KEY']);
  const who = key === undefined ? {} : { key };
  if (url !== undefined && (token !== undefined || !isHere(url)))
    return { url: normalizeGatewayUrl(url), ...(token === undefined ? {} : { token }), ...who };
  const local = await (url === undefined
    ? findLocal(options.config)
    : findOrNone(url, () => findLocal(options.config)));
  const found = token ?? local.token;
  return {
    url: normalizeGatewayUrl(url ?? local.url),
    ...(found === undefined ? {} : { token: found }),
    ...who,
  };
}

/** Who has named a gateway need not have a configuration here that can be read. */
async function findOrNone(url: string, find: () => Promise<LocalGateway>): Promise<LocalGateway> {
  try {
    return await find();
  } catch {
    return { url };
  }
}

/** People paste the address they know, which is that of the MCP endpoint. Throws a RangeError for what is no address. */
export function normalizeGatewayUrl(text: string): string {
  const written = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(written))
    throw new RangeError(`${text} is no address; give one like http://127.0.0.1:3000`);
  const url = new URL(written);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RangeError(`${text} must start with http:// or https://`);
  return `${url.origin}${url.pathname.replace(/\/(mcp|admin(\/v1)?)?\/?$/, '')}`;
}

const isHere = (url: string): boolean =>
  isLoopback(new URL(normalizeGatewayUrl(url)).hostname.replace(/^\[|\]$/g, ''));

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
