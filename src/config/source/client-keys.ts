import { isDeepStrictEqual } from 'node:util';
import type { ConfigProblems } from '../problems.js';
import type { TranslatedKeyShape } from '../schema/shape.js';
import type { ConfigDocument } from './document.js';
import {
  BARE_VARIABLE_NOTE,
  BRACES_NOTE,
  hasBareVariable,
  isGeminiDefinition,
  KEYS_WITH_VARIABLES,
  withBraces,
} from './gemini-variables.js';

/** The key and value of the gateway that replace a key of another MCP client. */
export interface TranslatedKey {
  /** The path of the gateway's key in the definition of a server. */
  readonly path: readonly [string] | readonly [string, string];
  readonly value: unknown;
  /** What an operator should know about the translation, as log text. */
  readonly note?: string;
}

/** A key of other MCP clients that the gateway translates. */
interface ClientKey extends TranslatedKeyShape {
  /** Undefined for a value of the wrong type. */
  readonly translate: (value: unknown) => TranslatedKey | undefined;
}

/**
 * A `timeout` up to this value counts seconds, as in Cline and Roo Code, which allow at most an hour. A larger value counts
 * milliseconds, as in Claude Code and Gemini CLI.
 */
const MAX_TIMEOUT_SECONDS = 3600;

function translateTimeout(value: unknown): TranslatedKey | undefined {
  if (typeof value !== 'number') return undefined;
  if (value > MAX_TIMEOUT_SECONDS) return { path: ['timeoutMs'], value };
  const timeoutMs = Math.round(value * 1000);
  const note = `is read as ${value} s (timeoutMs: ${timeoutMs}); above ${MAX_TIMEOUT_SECONDS} it counts milliseconds`;
  return { path: ['timeoutMs'], value: timeoutMs, note };
}

const disabledTools = (clients: string): ClientKey => ({
  clients,
  replaces: 'tools',
  meaning: 'is added to `tools.disabled`',
  schema: { type: 'array', items: { type: 'string' } },
  translate: (value) => (Array.isArray(value) ? { path: ['tools', 'disabled'], value } : undefined),
});

const renamed = (clients: string, replaces: string): ClientKey => ({
  clients,
  replaces,
  meaning: `is read as \`${replaces}\``,
  schema: { type: 'string' },
  translate: (value) => (typeof value === 'string' ? { path: [replaces], value } : undefined),
});

export const CLIENT_KEYS: ReadonlyMap<string, ClientKey> = new Map(
  Object.entries<ClientKey>({
    disabled: {
      clients: 'Cline, Roo Code, Windsurf and Cursor',
      replaces: 'enabled',
      meaning: 'is read as `enabled`, inverted',
      schema: { type: 'boolean' },
      translate: (value) => (typeof value === 'boolean' ? { path: ['enabled'], value: !value } : undefined),
    },
    disabledTools: disabledTools('Roo Code and Windsurf'),
    excludeTools: disabledTools('Gemini CLI'),
    timeout: {
      clients: 'Cline, Roo Code, Claude Code and Gemini CLI',
      replaces: 'timeoutMs',
      meaning: `is read as \`timeoutMs\`: up to ${MAX_TIMEOUT_SECONDS} in seconds, above that in milliseconds`,
      schema: { type: 'number' },
      translate: translateTimeout,
    },
    serverUrl: renamed('Windsurf', 'url'),
    httpUrl: renamed('Gemini CLI', 'url'),
    transportType: renamed('Cline', 'type'),
  }),
);

/** Undefined for a key that has no translation, and for a value of the wrong type. */
export const translateClientKey = (name: string, value: unknown): TranslatedKey | undefined =>
  CLIENT_KEYS.get(name)?.translate(value);

const HINT = 'that the gateway does not have; remove it, or convert the file with `gatehouse config import`';

/**
 * Keys that other clients have in the definition of a server and the gateway does not have, each with the problem to
 * report.
 */
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

/** Keys that other clients have at the top of their file and the gateway does not have, each with the problem to report. */
export const CLIENT_TOP_KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries({ servers: 'VS Code', inputs: 'VS Code', mcp: 'VS Code and Gemini CLI' }).map(
    ([name, client]) => [name, `is a key of ${client} ${HINT}`],
  ),
);

/** Replaces keys of other MCP clients by those of the gateway, so that a part of the file of a client can be pasted. */
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
  translateVariables(id, server, problems);
  for (const [name, given] of new Map(server)) {
    const translated = translateClientKey(name, given);
    if (!translated) continue;
    server.delete(name);
    const { path, value, note } = translated;
    const [key, member] = path;
    if (note !== undefined) problems.note(['mcpServers', id, name], note);
    const section = member === undefined ? server : mappingAt(server, key);
    if (!section || !setOrUnite(section, member ?? key, value))
      problems.add(['mcpServers', id, name], `contradicts \`${path.join('.')}\`; keep one of them`);
    else problems.recordSource(['mcpServers', id, ...path], `\`${name}\``);
  }
}

/**
 * Reads `$NAME` as `${NAME}` in a definition of Gemini CLI. In other definitions `$NAME` may be plain text, and is only
 * noted.
 */
function translateVariables(id: string, server: ConfigDocument, problems: ConfigProblems): void {
  const isGemini = isGeminiDefinition(server.keys());
  for (const key of [...KEYS_WITH_VARIABLES, 'httpUrl']) {
    const given = server.get(key);
    const texts = textsIn(given);
    if (isGemini && texts.some((text) => withBraces(text) !== text)) {
      server.set(key, mapTexts(given, withBraces));
      problems.note(['mcpServers', id, key], BRACES_NOTE);
    } else if (!isGemini && KEYS_WITHOUT_SCRIPTS.has(key) && texts.some(hasBareVariable))
      problems.note(['mcpServers', id, key], BARE_VARIABLE_NOTE);
  }
}

/** Keys whose values cannot be shell scripts. In a script, `$NAME` is a variable of the shell. */
const KEYS_WITHOUT_SCRIPTS = new Set(['env', 'url', 'headers']);

/** Changes every text in a value. Returns a copy, because YAML aliases may share the value. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!(value instanceof Map)) return value;
  return new Map(Array.from(value as ConfigDocument, ([key, item]) => [key, mapTexts(item, change)]));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  const items = value instanceof Map ? [...value.values()] : value;
  return Array.isArray(items) ? items.flatMap(textsIn) : [];
}

/**
 * Returns the mapping under a key, or undefined if the value is not a mapping. The mapping is replaced by a copy first,
 * because YAML aliases may share it.
 */
function mappingAt(server: ConfigDocument, key: string): ConfigDocument | undefined {
  const existing = server.get(key) ?? new Map<string, unknown>();
  if (!(existing instanceof Map)) return undefined;
  const copy = new Map(existing as ConfigDocument);
  server.set(key, copy);
  return copy;
}

/**
 * Sets the value, or adds its items to an existing list. Returns false if the key has a different value that is no list.
 */
function setOrUnite(section: ConfigDocument, key: string, value: unknown): boolean {
  const existing = section.get(key);
  if (existing !== undefined && !Array.isArray(existing)) return isDeepStrictEqual(existing, value);
  section.set(key, Array.isArray(existing) ? [...new Set([...existing, ...(value as unknown[])])] : value);
  return true;
}
