import { statSync, watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { needsAuth } from './cross-checks.js';
import type { GatehouseConfig } from './gatehouse-config.js';
import type { HttpSettings } from './http-settings.js';
import type { LiveConfig } from './live-config.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/** Editors and orchestrators write in several steps; only the last of them counts. */
const DEBOUNCE_MS = 200;

/** What follows the file while the gateway runs. The rest needs a restart, and a change of it is only reported. */
const LIVE_KEYS = new Set<keyof GatehouseConfig>(['mcpServers', 'projects', 'auth', 'secrets', '$schema']);

/** Where the configuration came from, and how to get it from there again. */
export interface ConfigSource {
  readonly path: string;
  load(): GatehouseConfig;
}

export interface ReloadOutcome {
  readonly ok: boolean;
  readonly at: Date;
  /** What is wrong with the file, when it was refused. */
  readonly problem?: string;
}

/**
 * Follows the configuration file: on every change of it, and on SIGHUP, the whole file is read and checked, and only
 * then anything changes. A file that is wrong changes nothing.
 */
export class ConfigReloader implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Config');
  private watcher: FSWatcher | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet<[outcome: ReloadOutcome]>();
  private readonly onHangup = (): void => void this.reload();
  /** The address in use, whatever a later file says of it. */
  private readonly boundHttp: HttpSettings;
  private lastFingerprint: string | undefined;
  lastOutcome: ReloadOutcome = { ok: true, at: new Date() };
  /** When a configuration was last accepted. */
  lastGoodAt = new Date();

  constructor(
    private readonly live: LiveConfig,
    private readonly source: ConfigSource,
  ) {
    this.boundHttp = live.current.http;
  }

  onApplicationBootstrap(): void {
    // The directory and not the file: files are replaced by renaming, and mounted ones by swapping a link beside them.
    this.watcher = watch(dirname(this.source.path), { persistent: false }, () => this.schedule());
    this.watcher.on('error', (error) =>
      this.logger.warn({
        message: 'the configuration is not watched any more; use SIGHUP',
        cause: error.message,
      }),
    );
    process.on('SIGHUP', this.onHangup);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.watcher?.close();
    process.off('SIGHUP', this.onHangup);
  }

  /** Told of every attempt, whether it changed something or not. */
  onOutcome(listener: (outcome: ReloadOutcome) => void): () => void {
    return this.listeners.add(listener);
  }

  reload(): ReloadOutcome {
    clearTimeout(this.timer);
    const at = new Date();
    try {
      this.apply(this.source.load());
      this.lastOutcome = { ok: true, at };
      this.lastGoodAt = at;
    } catch (error) {
      const problem = (error as Error).message;
      this.lastOutcome = { ok: false, at, problem };
      this.logger.error({ message: 'the configuration was not reloaded; the last good one stays', problem });
    }
    this.listeners.emit(this.lastOutcome);
    return this.lastOutcome;
  }

  private schedule(): void {
    // Other files of the directory change too. One of them may be our own log, which a reload makes grow.
    const mark = fingerprintOf(this.source.path);
    if (mark === this.lastFingerprint) return;
    this.lastFingerprint = mark;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.reload(), DEBOUNCE_MS).unref();
  }

  private apply(config: GatehouseConfig): void {
    if (!config.auth.isConfigured && needsAuth(this.boundHttp))
      throw new Error('auth: cannot go while the gateway listens beyond loopback; change http and restart');
    const before = this.live.current;
    const changed = (Object.keys(config) as (keyof GatehouseConfig)[]).filter(
      (key) => !isDeepStrictEqual(orderedEntries(config[key]), orderedEntries(before[key])),
    );
    if (changed.length === 0) return;
    const waiting = changed.filter((key) => !LIVE_KEYS.has(key));
    this.live.replace(config);
    this.logger.log({ message: 'configuration reloaded', changed });
    if (waiting.length > 0) this.logger.warn({ message: 'these changes need a restart', keys: waiting });
  }
}

/** Maps are equal in any order, but the order of the servers decides about names. */
const orderedEntries = (value: unknown): unknown => (value instanceof Map ? [...value] : value);

/** Differs whenever the file, or what a link puts in its place, was written, replaced or removed. */
function fingerprintOf(path: string): string {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file ? `${file.dev} ${file.ino} ${file.ctimeNs} ${file.mtimeNs} ${file.size}` : 'none';
}
