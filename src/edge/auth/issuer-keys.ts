import { Logger } from '@nestjs/common';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { fetchJson } from './fetch-json.js';
import { discoverJwksUri } from './issuer-metadata.js';
import { TokenError } from './auth-errors.js';

/**
 * Older keys are fetched again before they are used, so that keys that the issuer has removed are no longer trusted.
 */
export const KEY_REFRESH_AGE_MS = 600_000;
/** While the issuer is unreachable, the cached keys are used until they have this age. */
const MAX_STALE_MS = 86_400_000;
/** Minimum time between two fetches for tokens with unknown keys, and between a failed fetch and the next one. */
const MIN_FETCH_INTERVAL_MS = 10_000;
/**
 * Minimum time after a failed fetch while no fetch has succeeded yet. It is shorter, because every token is refused
 * until then.
 */
const MIN_FETCH_INTERVAL_WITHOUT_KEYS_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

/**
 * Caches the public keys of the issuer. While the issuer is unreachable, the cached keys are used. A token with an
 * unknown key causes a fetch, because the issuer may have rotated its keys. The rate of these fetches is limited.
 */
export class IssuerKeys {
  private readonly logger = new Logger('Auth');
  private keys: JWTVerifyGetKey | undefined;
  /** JSON of the fetched key set, to detect changes. */
  private keySetText = '';
  /** When the last fetch succeeded. */
  private fetchedAt = -Infinity;
  /** When the last fetch failed. */
  private failedAt = -Infinity;
  /** When the keys were last fetched for a token with an unknown key. */
  private unknownKeyFetchAt = -Infinity;
  private fetching: Promise<void> | undefined;

  /** `onChange` is called when a fetch returns other keys than before. */
  constructor(
    private readonly settings: Pick<JwtSettings, 'issuer' | 'jwksUri'>,
    private readonly onChange: () => void = () => {},
    private readonly now: () => number = Date.now,
  ) {}

  /** The key for a token with this header, as jose's `jwtVerify` expects it. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    await this.refresh();
    try {
      return await this.usableKeys()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.fetchForUnknownKey();
      return this.usableKeys()(header, token);
    }
  };

  /** Fetches the keys if they are too old. A failure is logged, not thrown. */
  async refresh(): Promise<void> {
    if (this.now() - this.fetchedAt < KEY_REFRESH_AGE_MS) return;
    const minIntervalMs = this.keys ? MIN_FETCH_INTERVAL_MS : MIN_FETCH_INTERVAL_WITHOUT_KEYS_MS;
    if (this.fetching || this.now() - this.failedAt >= minIntervalMs) await this.fetch();
  }

  private async fetchForUnknownKey(): Promise<void> {
    const lastAttemptAt = Math.max(this.unknownKeyFetchAt, this.failedAt);
    if (!this.fetching && this.now() - lastAttemptAt < MIN_FETCH_INTERVAL_MS) return;
    this.unknownKeyFetchAt = this.now();
    await this.fetch();
  }

  /** The cached keys. Throws if there are none, or if they are too old to be used. */
  private usableKeys(): JWTVerifyGetKey {
    if (this.keys && this.now() - this.fetchedAt < MAX_STALE_MS) return this.keys;
    throw new TokenError('unverifiable', 'the keys of the issuer cannot be fetched');
  }

  /** Concurrent callers share one fetch. Never rejects. */
  private fetch(): Promise<void> {
    this.fetching ??= this.load()
      .catch((error: unknown) => this.onFailure(error as Error))
      .finally(() => {
        this.fetching = undefined;
      });
    return this.fetching;
  }

  private async load(): Promise<void> {
    const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    const { issuer, jwksUri } = this.settings;
    const set = await fetchJson(jwksUri ?? (await discoverJwksUri(issuer, signal)), signal);
    const keys = createLocalJWKSet(set as JSONWebKeySet);
    this.fetchedAt = this.now();
    const keySetText = JSON.stringify(set);
    if (keySetText === this.keySetText) return;
    this.keys = keys;
    this.keySetText = keySetText;
    this.onChange();
  }

  private onFailure(error: Error): void {
    this.failedAt = this.now();
    const { issuer } = this.settings;
    this.logger.warn({
      message: 'the keys of the token issuer cannot be fetched',
      issuer,
      reason: error.message || error.name,
      hasKeys: this.keys !== undefined,
    });
  }
}
