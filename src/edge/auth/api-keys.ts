import { hash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyConfig } from '../../config/api-key-config.js';
import { grantsOf, type Principal } from '../../mcp/principal.js';
import { TokenError } from './auth-errors.js';

interface ApiKey {
  readonly config: ApiKeyConfig;
  readonly digest: Buffer;
  readonly expiresAt: number;
  readonly principal: Principal;
}

const HASH_PREFIX = 'sha256:';
/** Keys are looked up by this many hex digits of their digest, which has 64. */
const DIGEST_PREFIX_LENGTH = 32;

/**
 * The configured API keys. Only the SHA-256 digest of a key is stored. A key is looked up by the first half of its
 * digest, then the whole digest is compared in constant time. The time of the lookup reveals nothing about the digests,
 * because a client cannot choose the digest of its key.
 */
export class ApiKeys {
  private byDigestPrefix: ReadonlyMap<string, ApiKey> = new Map();
  private byPrincipal: ReadonlyMap<Principal, ApiKey> = new Map();

  constructor(
    keys: readonly ApiKeyConfig[],
    private readonly now: () => number = Date.now,
  ) {
    this.replace(keys);
  }

  /**
   * Replaces all keys. A removed key is refused from now on. A key with unchanged settings keeps its principal object.
   */
  replace(configs: readonly ApiKeyConfig[]): void {
    const previous = new Map(
      [...this.byDigestPrefix.values()].map((key) => [JSON.stringify(key.config), key]),
    );
    const keys = configs.map((config) => previous.get(JSON.stringify(config)) ?? keyOf(config));
    this.byDigestPrefix = new Map(keys.map((key) => [digestPrefixOf(key.digest.toString('hex')), key]));
    this.byPrincipal = new Map(keys.map((key) => [key.principal, key]));
  }

  /** The principal of the key with this SHA-256 in hex. Throws a TokenError if the key has expired. */
  find(digest: string): Principal | undefined {
    const key = this.byDigestPrefix.get(digestPrefixOf(digest));
    if (!key || !timingSafeEqual(key.digest, Buffer.from(digest, 'hex'))) return undefined;
    if (this.isExpired(key)) throw new TokenError('expired', `the key ${key.config.id} expired`);
    return key.principal;
  }

  /** Whether the key of the principal is still accepted. */
  isCurrent(principal: Principal): boolean {
    const key = this.byPrincipal.get(principal);
    return key !== undefined && !this.isExpired(key);
  }

  /**
   * The digest of the settings of the principal's key. It is stored with a session, so that the session is not restored
   * if the settings of the key have changed.
   */
  settingsDigestOf(principal: Principal): string | undefined {
    const key = this.byPrincipal.get(principal);
    return key && settingsDigestOf(key.config);
  }

  /** The principal with this id, if the settings of its key still have this digest and the key has not expired. */
  restorePrincipal(id: string, settingsDigest: string): Principal | undefined {
    for (const key of this.byPrincipal.values())
      if (key.principal.id === id && settingsDigestOf(key.config) === settingsDigest && !this.isExpired(key))
        return key.principal;
    return undefined;
  }

  private isExpired({ expiresAt }: ApiKey): boolean {
    return this.now() >= expiresAt;
  }
}

const digestPrefixOf = (digest: string): string => digest.slice(0, DIGEST_PREFIX_LENGTH);

const settingsDigestOf = (config: ApiKeyConfig): string => hash('sha256', JSON.stringify(config), 'hex');

const keyOf = (config: ApiKeyConfig): ApiKey => ({
  config,
  digest: Buffer.from(config.hash.slice(HASH_PREFIX.length), 'hex'),
  expiresAt: config.expires === undefined ? Infinity : Date.parse(config.expires),
  principal: { id: `key:${config.id}`, grants: grantsOf(config.projects) },
});
