import { isDeepStrictEqual } from 'node:util';
import type { ConfigProblems } from '../problems.js';
import type { ConfigDocument } from './document.js';

/** A key of another MCP client in the terms of the gateway. */
export interface TranslatedKey {
  /** Below the definition of the server. */
  readonly path: readonly [string] | readonly [string, string];
  readonly value: unknown;
}

/** Cline and Roo Code count seconds, up to an hour. Claude Code and Gemini CLI count milliseconds. */
const MAX_TIMEOUT_SECONDS = 3600;

const disabledTools = (value: unknown): TranslatedKey | undefined =>
  Array.isArray(value) ? { path: ['tools', 'disabled'], value } : undefined;

const renamedTo =
  (key: string) =>
  (value: unknown): TranslatedKey | undefined =>
    typeof value === 'string' ? { path: [key], value } : undefined;

const TRANSLATIONS: Readonly<Record<string, (value: unknown) => TranslatedKey | undefined>> = {
  // Cline, Roo Code, Windsurf, Cursor
  disabled: (value) => (typeof value === 'boolean' ? { path: ['enabled'], value: !value } : undefined),
  // Roo Code, Windsurf
  disabledTools,
  // Gemini CLI
  excludeTools: disabledTools,
  timeout: (value) =>
    typeof value === 'number'
      ? { path: ['timeoutMs'], value: value <= MAX_TIMEOUT_SECONDS ? Math.round(value * 1000) : value }
      : undefined,
  // Windsurf
  serverUrl: renamedTo('url'),
  // Gemini CLI
  httpUrl: renamedTo('url'),
  // Cline
  transportType: renamedTo('type'),
};

/** Undefined for a key that has no translation, and for a value of the wrong type. */
export const translateClientKey = (name: string, value: unknown): TranslatedKey | undefined =>
  Object.hasOwn(TRANSLATIONS, name) ? TRANSLATIONS[name]!(value) : undefined;

const HINT = 'that the gateway does not have; remove it, or convert the file with `gatehouse config import`';

/** The problem of a key that another client has in the definition of a server and the gateway does not have. */
export const CLIENT_SERVER_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    autoApprove: 'Cline',
    alwaysAllow: 'Roo Code',
    watchPaths: 'Roo Code',
    includeTools: 'Gemini CLI',
    trust: 'Gemini CLI',
    description: 'Gemini CLI',
    oauth: 'Gemini CLI',
    authProviderType: 'Gemini CLI',
    auth: 'Cursor',
    envFile: 'Cursor and VS Code',
    dev: 'VS Code',
    gallery: 'VS Code',
    version: 'VS Code',
  }).map(([name, client]) => [name, `is a key of ${client} ${HINT}`]),
);

/** The same at the top of the file. */
export const CLIENT_TOP_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({ servers: 'VS Code', inputs: 'VS Code', mcp: 'VS Code and Gemini CLI' }).map(
    ([name, client]) => [name, `is a key of ${client} ${HINT}`],
  ),
);

/** Replaces keys of other MCP clients by those of the gateway, so that a block of a client can be pasted. */
export function translateClientKeys(document: ConfigDocument, problems: ConfigProblems): void {
  if (document.has('servers') && !document.has('mcpServers') && document.get('servers') instanceof Map) {
    document.set('mcpServers', document.get('servers'));
    document.delete('servers');
    problems.recordSource(['mcpServers'], '`servers`');
  }
  const servers = document.get('mcpServers');
  if (!(servers instanceof Map)) return;
  for (const [id, server] of servers as ConfigDocument)
    if (server instanceof Map) translateServer(id, server as ConfigDocument, problems);
}

function translateServer(id: string, server: ConfigDocument, problems: ConfigProblems): void {
  for (const [name, given] of new Map(server)) {
    const translated = translateClientKey(name, given);
    if (!translated) continue;
    server.delete(name);
    const { path, value } = translated;
    const [key, member] = path;
    const section = member === undefined ? server : mappingAt(server, key);
    if (!section || !setOrUnite(section, member ?? key, value))
      problems.add(['mcpServers', id, name], `contradicts \`${path.join('.')}\`; keep one of them`);
    else problems.recordSource(['mcpServers', id, ...path], `\`${name}\``);
  }
}

/** A copy of the mapping under a key, which a YAML alias may share; undefined for a value of another type. */
function mappingAt(server: ConfigDocument, key: string): ConfigDocument | undefined {
  const found = server.get(key) ?? new Map<string, unknown>();
  if (!(found instanceof Map)) return undefined;
  const own = new Map(found as ConfigDocument);
  server.set(key, own);
  return own;
}

/** Unites lists, because each may switch something off. False for another value than the existing one. */
function setOrUnite(section: ConfigDocument, key: string, value: unknown): boolean {
  const existing = section.get(key);
  if (existing !== undefined && !Array.isArray(existing)) return isDeepStrictEqual(existing, value);
  section.set(key, Array.isArray(existing) ? [...new Set([...existing, ...(value as unknown[])])] : value);
  return true;
}
