import { ApiKeyConfig } from './api-key-config.js';
import { JwtSettings } from './jwt-settings.js';
import { Section, SectionList } from './schema/keys.js';
import { Rule } from './schema/rule.js';

/** Authentication of clients. */
export class AuthSettings {
  @Rule<readonly ApiKeyConfig[]>(
    'uniqueKeys',
    (keys) => sharedIdOrHash(keys) === undefined,
    (keys) => `${sharedIdOrHash(keys)} is used twice`,
  )
  @SectionList(
    ApiKeyConfig,
    'API keys of clients; `gatehouse key create` creates one. An empty list refuses every client.',
  )
  readonly apiKeys?: readonly ApiKeyConfig[];

  @Section(JwtSettings, 'Tokens of an OAuth authorization server.')
  readonly jwt?: JwtSettings;

  /** An empty list of keys counts as configured: removing the last key must not allow anonymous access. */
  get isConfigured(): boolean {
    return this.apiKeys !== undefined || this.jwt !== undefined;
  }
}

export const NO_AUTH = new AuthSettings();

/** Describes the first id or hash that two keys share. Missing ids and hashes are reported by the rules of ApiKeyConfig. */
function sharedIdOrHash(keys: readonly Partial<ApiKeyConfig>[]): string | undefined {
  const seen = new Set<string>();
  for (const { id, hash } of keys) {
    const digest = hash?.toLowerCase();
    if (id !== undefined && seen.has(id)) return `the id \`${id}\``;
    if (digest !== undefined && seen.has(digest)) return `the hash of \`${id}\``;
    for (const value of [id, digest]) if (value !== undefined) seen.add(value);
  }
  return undefined;
}
