import { HttpServerConfig } from './http-server-config.js';
import type { TextRule, SectionShape, SectionType } from './schema/shape.js';
import { CLIENT_KEYS, CLIENT_SERVER_KEYS } from './source/client-keys.js';
import { StdioServerConfig } from './stdio-server-config.js';

/** One server, discriminated by `type`: `stdio`, `http` or `sse`. */
export type ServerConfig = StdioServerConfig | HttpServerConfig;

export const SERVER_ID: TextRule = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  requirement:
    'must be a server id: 1 to 64 characters of A-Z a-z 0-9 _ . -, the first of which is a letter or digit',
};

/** The servers by id, in the order of the file. Read-only: `Object.freeze` alone does not prevent a change of a Map. */
export class ServersConfig extends Map<string, ServerConfig> implements ReadonlyMap<string, ServerConfig> {
  constructor(servers: Iterable<readonly [string, ServerConfig]> = []) {
    super();
    for (const [id, server] of servers) super.set(id, server);
  }

  override set(): never {
    throw new TypeError('the configuration is read-only');
  }

  override delete(): never {
    throw new TypeError('the configuration is read-only');
  }

  override clear(): never {
    throw new TypeError('the configuration is read-only');
  }
}

/**
 * A server has one of two forms: stdio or HTTP. A definition with `command` has the stdio form, in which `url` is refused.
 */
export const SERVER_SHAPE: SectionShape = {
  kind: 'section',
  types: [StdioServerConfig, HttpServerConfig],
  foreignKeys: CLIENT_SERVER_KEYS,
  translatedKeys: CLIENT_KEYS,
  choose(mapping): SectionType {
    if (mapping.has('command')) return StdioServerConfig;
    const isRemote = mapping.has('url') || mapping.has('headers') || isRemoteType(mapping.get('type'));
    return isRemote ? HttpServerConfig : StdioServerConfig;
  },
};

const isRemoteType = (type: unknown): boolean => typeof type === 'string' && type !== 'stdio';
