import { existsSync, statSync, watch, type FSWatcher } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { needsAuth } from './cross-checks.js';
import type { GatehouseConfig } from './gatehouse-config.js';
import type { HttpSettings } from './http-settings.js';
import type { LiveConfig } from './live-config.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/**
 * A reload waits until the file has not changed for this time, because editors and orchestrators write in several steps.
 */
const DEBOUNCE_MS = 200;

/** Keys that a reload applies. Changes of other keys need a restart and are logged. */
const LIVE_KEYS = new Set<keyof GatehouseConfig>([
  'mcpServers',
  'projects',
  'auth',
  'decisions',
  'log',
  'instructions',
  'secrets',
  '$schema',
]);

/** Path of the configuration and the function that loads it again. */
export interface ConfigSource {
  readonly path: string;
  /** The result of `fingerprintOf(path)` before the first load. With it, a change during the start is detected. */
  readonly fingerprint?: string;
  load(): GatehouseConfig;
}

export interface ReloadOutcome {
  readonly ok: boolean;
  readonly at: Date;
  /** Why the file was refused. */
  readonly problem?: string;
  /** Keys whose values in the last valid file apply only after a restart. */
  readonly restartNeeded: readonly string[];
}

/**
 * Reloads the configuration file when it changes and on SIGHUP. The whole file is read and validated before anything is
 * applied; an invalid file changes nothing.
 */
export class ConfigReloader implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Config');
  private watcher: FSWatcher | undefined;
  private watchedDirectory: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new ListenerSet<[outcome: ReloadOutcome]>();
  private readonly onHangup = (): void => void this.reload();
  /** The address that the gateway listens on; a reload does not change it. */
  private readonly boundHttp: HttpSettings;
  /** Fingerprint of the file when it was last loaded, or when a reload was last scheduled. */
  private lastFingerprint: string;
  /** The configuration that the process started with. */
  private readonly startConfig: GatehouseConfig;
  lastOutcome: ReloadOutcome = { ok: true, at: new Date(), restartNeeded: [] };
  lastSuccessAt = new Date();

  constructor(
    private readonly live: LiveConfig,
    private readonly source: ConfigSource,
  ) {
    this.startConfig = live.current;
    this.boundHttp = live.current.http;
    this.lastFingerprint = source.fingerprint ?? fingerprintOf(source.path);
  }

  onApplicationBootstrap(): void {
    this.watch();
    process.on('SIGHUP', this.onHangup);
    this.scheduleIfChanged();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
    this.watcher?.close();
    process.off('SIGHUP', this.onHangup);
  }

  /** Calls the listener after every reload, successful or not. */
  onOutcome(listener: (outcome: ReloadOutcome) => void): () => void {
    return this.listeners.add(listener);
  }

  /** Loads and applies the file. Does not throw: the outcome says why a file was refused. */
  reload(): ReloadOutcome {
    clearTimeout(this.timer);
    const at = new Date();
    this.lastFingerprint = fingerprintOf(this.source.path);
    try {
      const restartNeeded = this.apply(this.source.load());
      this.lastOutcome = { ok: true, at, restartNeeded };
      this.lastSuccessAt = at;
    } catch (error) {
      const problem = (error as Error).message;
      const { restartNeeded } = this.lastOutcome;
      this.lastOutcome = { ok: false, at, problem, restartNeeded };
      this.logger.error({ message: 'configuration not reloaded; the previous one stays in effect', problem });
    }
    this.listeners.emit(this.lastOutcome);
    return this.lastOutcome;
  }

  /**
   * Watches the directory of the file instead of the file: editors replace a file by renaming another one, and Kubernetes
   * replaces a mounted file by changing a symbolic link beside it. While the directory does not exist, the closest existing
   * parent is watched.
   */
  private watch(): void {
    const directory = existingDirectory(dirname(resolve(this.source.path)));
    if (directory === this.watchedDirectory) return;
    this.watcher?.close();
    this.watchedDirectory = directory;
    this.watcher = watch(directory, { persistent: false }, () => {
      // The change may have created or removed a directory on the path, so the directory to watch may be another one now.
      this.watch();
      this.scheduleIfChanged();
    });
    this.watcher.on('error', (error) =>
      this.logger.warn({
        message: 'watching the configuration failed; send SIGHUP to reload',
        cause: error.message,
      }),
    );
  }

  /**
   * Schedules a reload if the file has changed. The watcher also reports changes of other files in the directory. One of
   * them may be the log of the gateway, to which every reload writes: without the check, each reload would cause the next.
   */
  private scheduleIfChanged(): void {
    const fingerprint = fingerprintOf(this.source.path);
    if (fingerprint === this.lastFingerprint) return;
    this.lastFingerprint = fingerprint;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.reload(), DEBOUNCE_MS).unref();
  }

  /** Applies a valid configuration. Returns the keys whose values apply only after a restart. */
  private apply(config: GatehouseConfig): string[] {
    if (!config.auth.isConfigured && needsAuth(this.boundHttp))
      throw new Error(
        'auth: cannot be removed while the gateway listens beyond loopback; ' +
          'set http.host to a loopback address, or http.allowRemoteWithoutAuth, and restart',
      );
    // Compared with the configuration at the start: a key that was changed and changed back needs no restart.
    const restartNeeded = changedKeysOf(config, this.startConfig).filter((key) => !LIVE_KEYS.has(key));
    const changed = changedKeysOf(config, this.live.current);
    if (changed.length === 0) {
      if (!this.lastOutcome.ok) this.logger.log('configuration accepted again; it has not changed');
      return restartNeeded;
    }
    this.live.replace(config);
    this.logger.log({ message: 'configuration reloaded', changed });
    for (const note of config.notes) this.logger.log({ message: 'configuration note', note });
    const unapplied = restartNeeded.filter((key) => changed.includes(key));
    if (unapplied.length > 0) this.logger.warn({ message: 'these changes need a restart', keys: unapplied });
    return restartNeeded;
  }
}

/** The directory, or its closest parent that exists. */
const existingDirectory = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : existingDirectory(dirname(path));

const changedKeysOf = (config: GatehouseConfig, other: GatehouseConfig): (keyof GatehouseConfig)[] =>
  (Object.keys(config) as (keyof GatehouseConfig)[]).filter(
    (key) => key !== 'notes' && !isDeepStrictEqual(orderedEntries(config[key]), orderedEntries(other[key])),
  );

/**
 * Converts a map to a list, so that a comparison includes the order of its entries: the order of servers affects public
 * names.
 */
const orderedEntries = (value: unknown): unknown => (value instanceof Map ? [...value] : value);

/** A text that changes when the file, or the target of its symbolic link, is written, replaced or removed. */
export function fingerprintOf(path: string): string {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file ? `${file.dev} ${file.ino} ${file.ctimeNs} ${file.mtimeNs} ${file.size}` : 'none';
}
