import { watch, type FSWatcher } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { GatehouseConfig } from './gatehouse-config.js';
import type { LiveConfig } from './live-config.js';

/** Editors and orchestrators write in several steps; only the last of them counts. */
const SETTLE_MS = 200;

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
  private readonly onHangup = (): void => void this.reload();
  lastOutcome: ReloadOutcome = { ok: true, at: new Date() };

  constructor(
    private readonly live: LiveConfig,
    private readonly source: ConfigSource,
  ) {}

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

  reload(): ReloadOutcome {
    clearTimeout(this.timer);
    const at = new Date();
    try {
      this.apply(this.source.load());
      this.lastOutcome = { ok: true, at };
    } catch (error) {
      const problem = (error as Error).message;
      this.lastOutcome = { ok: false, at, problem };
      this.logger.error({ message: 'the configuration was not reloaded; the last good one stays', problem });
    }
    return this.lastOutcome;
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.reload(), SETTLE_MS).unref();
  }

  private apply(config: GatehouseConfig): void {
    const before = this.live.current;
    const changed = (Object.keys(config) as (keyof GatehouseConfig)[]).filter(
      (key) => !isDeepStrictEqual(config[key], before[key]),
    );
    if (changed.length === 0) return;
    const waiting = changed.filter((key) => !LIVE_KEYS.has(key));
    this.live.replace(config);
    this.logger.log({ message: 'configuration reloaded', changed });
    if (waiting.length > 0) this.logger.warn({ message: 'these changes need a restart', keys: waiting });
  }
}
