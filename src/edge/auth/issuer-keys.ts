import { Logger } from '@nestjs/common';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import type { JwtSettings } from '../../config/jwt-settings.js';
import { fetchJson } from './fetch-json.js';
import { discoverJwksUri } from './issuer-metadata.js';
import { TokenError } from './token-error.js';

/** After that the keys are fetched again before they are used: one the issuer took away is no longer trusted. */
export const MAX_AGE_MS = 600_000;
/** Beyond any outage in which tokens of a normal lifetime could still be good. */
const MAX_STALE_MS = 86_400_000;
/** Between two fetches that tokens of unknown keys, or an issuer out of reach, give reason for. */
const MIN_REFETCH_INTERVAL_MS = 10_000;
/** The same while there is no key at all, and therefore nobody can come in. */
const MIN_FIRST_FETCH_INTERVAL_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;

/**
 * The public keys of the issuer. While it is out of reach the keys at hand go on; a token of a key that is not among
 * them makes us look again, as after a rotation, but not more often than the cool-down allows.
 */
export class IssuerKeys {
  private readonly logger = new Logger('Auth');
  private keys: JWTVerifyGetKey | undefined;
  private text = '';
  private fetchedAt = -Infinity;
  private failedAt = -Infinity;
  private refetchedAt = -Infinity;
  private fetching: Promise<void> | undefined;

  /** `onChange` is told when the issuer has other keys than before. */
  constructor(
    private readonly settings: Pick<JwtSettings, 'issuer' | 'jwksUri'>,
    private readonly onChange: () => void = () => {},
    private readonly now: () => number = Date.now,
  ) {}

  /** The key for a token of this header, in the form jose asks for it. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    await this.refresh();
    try {
      return await this.current()(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.refetchUnknownKey();
      return this.current()(header, token);
    }
  };

  /** Fetches the keys unless those at hand are fresh. A failure is logged, not thrown. */
  async refresh(): Promise<void> {
    if (this.now() - this.fetchedAt < MAX_AGE_MS) return;
    const coolDown = this.keys ? MIN_REFETCH_INTERVAL_MS : MIN_FIRST_FETCH_INTERVAL_MS;
    if (this.fetching || this.now() - this.failedAt >= coolDown) await this.fetch();
  }

  private async refetchUnknownKey(): Promise<void> {
    if (!this.fetching && this.now() - this.refetchedAt < MIN_REFETCH_INTERVAL_MS) return;
    this.refetchedAt = this.now();
    await this.fetch();
  }

  private current(): JWTVerifyGetKey {
    if (this.keys && this.now() - this.fetchedAt < MAX_STALE_MS) return this.keys;
    throw new TokenError('unverifiable', 'the keys of the issuer cannot be fetched');
  }

  /** One at a time: whoever comes while it runs waits for the same answer. */
  private fetch(): Promise<void> {
    this.fetching ??= this.load()
      .catch((error: unknown) => this.failed(error as Error))
      .finally(() => (this.fetching = undefined));
    return this.fetching;
  }

  private async load(): Promise<void> {
    const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    const { issuer, jwksUri } = this.settings;
    const set = await fetchJson(jwksUri ?? (await discoverJwksUri(issuer, signal)), signal);
    const keys = createLocalJWKSet(set as JSONWebKeySet);
    this.fetchedAt = this.now();
    const text = JSON.stringify(set);
    if (text === this.text) return;
    this.keys = keys;
    this.text = text;
    this.onChange();
  }

  private failed(error: Error): void {
    this.failedAt = this.now();
    const { issuer } = this.settings;
    this.logger.warn({
      message: 'the keys of the token issuer cannot be fetched',
      issuer,
      reason: error.message || error.name,
      keysAtHand: this.keys !== undefined,
    });
  }
}
