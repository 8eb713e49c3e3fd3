import { ApiKeyConfig } from './api-key-config.js';
import { JwtSettings } from './jwt-settings.js';
import { Section, SectionList } from './schema/keys.js';
import { Rule } from './schema/rule.js';

/** How clients prove who they are. */
export class AuthSettings {
  @Rule<readonly ApiKeyConfig[]>(
    'oneOfAKind',
    (keys) => twin(keys) === undefined,
    (keys) => `${twin(keys)} stands twice`,
  )
  @SectionList(
    ApiKeyConfig,
    'Keys of clients; `gatehouse key create` makes one. An empty list lets nobody in.',
  )
  readonly apiKeys?: readonly ApiKeyConfig[];

  @Section(JwtSettings, 'Tokens of an OAuth authorization server.')
  readonly jwt?: JwtSettings;

  /** An empty list of keys counts: taking away the last key must not open the door. */
  get isConfigured(): boolean {
    return this.apiKeys !== undefined || this.jwt !== undefined;
  }
}

/** Where the config says nothing of authentication. */
export const NO_AUTH = new AuthSettings();

/** What two keys have in common that tells keys apart. A key that lacks it is reported for that already. */
function twin(keys: readonly Partial<ApiKeyConfig>[]): string | undefined {
  const seen = new Set<string>();
  for (const { id, hash } of keys) {
    const digest = hash?.toLowerCase();
    if (id !== undefined && seen.has(id)) return `the id \`${id}\``;
    if (digest !== undefined && seen.has(digest)) return `the hash of \`${id}\``;
    for (const mark of [id, digest]) if (mark !== undefined) seen.add(mark);
  }
  return undefined;
}
