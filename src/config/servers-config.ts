import { HttpServerConfig } from './http-server-config.js';
import type { TextRule, SectionShape, SectionType } from './schema/shape.js';
import { StdioServerConfig } from './stdio-server-config.js';

/** One server. `type` tells them apart: `stdio`, or `http` and `sse`. */
export type ServerConfig = StdioServerConfig | HttpServerConfig;

export const SERVER_ID: TextRule = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  says: 'a server id has 1 to 64 characters of A-Z a-z 0-9 _ . - and starts with a letter or digit',
};

/** The servers by id, in the order of the file. Filled once. */
export class ServersConfig extends Map<string, ServerConfig> implements ReadonlyMap<string, ServerConfig> {
  constructor(servers: Iterable<readonly [string, ServerConfig]> = []) {
    super();
    for (const [id, server] of servers) super.set(id, server);
  }

  override set(): never {
    throw new TypeError('the configuration does not change');
  }

  override delete(): never {
    throw new TypeError('the configuration does not change');
  }

  override clear(): never {
    throw new TypeError('the configuration does not change');
  }
}

/** A server is either of the two. `url` beside `command` is then a key of the other kind, and refused as such. */
export const SERVER: SectionShape = {
  kind: 'section',
  types: [StdioServerConfig, HttpServerConfig],
  choose(given): SectionType {
    if (given.has('command')) return StdioServerConfig;
    const isRemote = given.has('url') || given.has('headers') || isRemoteType(given.get('type'));
    return isRemote ? HttpServerConfig : StdioServerConfig;
  },
};

const isRemoteType = (type: unknown): boolean => typeof type === 'string' && type !== 'stdio';
