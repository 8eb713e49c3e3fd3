import { hash, timingSafeEqual } from 'node:crypto';
import type { ApiKeyConfig } from '../../config/api-key-config.js';
import type { Principal } from '../../mcp/principal.js';
import { grantsOf } from './grants.js';
import { TokenError } from './token-error.js';

interface ApiKey {
  readonly config: ApiKeyConfig;
  readonly digest: Buffer;
  readonly expiresAt: number;
  readonly principal: Principal;
}

const SCHEME = 'sha256:';
const INDEX_LENGTH = 32;

/**
 * The keys that clients may come with, known by their SHA-256 alone. Half of a digest finds the key, without a look at
 * any other; the whole then decides in constant time. How long the finding takes tells nothing: nobody can choose the
 * digest of a guess.
 */
export class ApiKeys {
  private byIndex: ReadonlyMap<string, ApiKey> = new Map();
  private byPrincipal: ReadonlyMap<Principal, ApiKey> = new Map();

  constructor(
    keys: readonly ApiKeyConfig[],
    private readonly now: () => number = Date.now,
  ) {
    this.replace(keys);
  }

  /** A key that is not among them is refused from now on. One that did not change keeps its principal. */
  replace(configs: readonly ApiKeyConfig[]): void {
    const before = new Map([...this.byIndex.values()].map((key) => [JSON.stringify(key.config), key]));
    const keys = configs.map((config) => before.get(JSON.stringify(config)) ?? keyOf(config));
    this.byIndex = new Map(keys.map((key) => [indexOf(key.digest.toString('hex')), key]));
    this.byPrincipal = new Map(keys.map((key) => [key.principal, key]));
  }

  /** Whose key has this SHA-256, in hex; undefined when nobody's has. Throws a Refusal when the key has expired. */
  find(digest: string): Principal | undefined {
    const key = this.byIndex.get(indexOf(digest));
    if (!key || !timingSafeEqual(key.digest, Buffer.from(digest, 'hex'))) return undefined;
    if (this.isExpired(key)) throw new TokenError('expired', `the key ${key.config.id} expired`);
    return key.principal;
  }

  /** Whether the key that the principal came with would be taken again. */
  isCurrent(principal: Principal): boolean {
    const key = this.byPrincipal.get(principal);
    return key !== undefined && !this.isExpired(key);
  }

  /** Under which settings the principal was let in: with any other of them its key is another. */
  termsOf(principal: Principal): string | undefined {
    const key = this.byPrincipal.get(principal);
    return key && termsOf(key.config);
  }

  /** The principal that was let in under these terms in an earlier life; undefined when it would not be now. */
  restorePrincipal(id: string, terms: string): Principal | undefined {
    for (const key of this.byPrincipal.values())
      if (key.principal.id === id && termsOf(key.config) === terms && !this.isExpired(key))
        return key.principal;
    return undefined;
  }

  private isExpired({ expiresAt }: ApiKey): boolean {
    return this.now() >= expiresAt;
  }
}

const indexOf = (digest: string): string => digest.slice(0, INDEX_LENGTH);

const termsOf = (config: ApiKeyConfig): string => hash('sha256', JSON.stringify(config), 'hex');

const keyOf = (config: ApiKeyConfig): ApiKey => ({
  config,
  digest: Buffer.from(config.hash.slice(SCHEME.length), 'hex'),
  expiresAt: config.expires === undefined ? Infinity : Date.parse(config.expires),
  principal: { id: `key:${config.id}`, grants: grantsOf(config.projects) },
});
