import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpSettings } from '../../config/http-settings.js';
import { isLoopback } from '../../config/loopback.js';
import { Authenticator } from './authenticator.js';

const WARN_INTERVAL_MS = 60_000;

/**
 * Logs a warning every minute while remote clients need no authentication, because `http.allowRemoteWithoutAuth` may be
 * set by mistake.
 */
@Injectable()
export class OpenAccessWarning implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Auth');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly http: HttpSettings,
    private readonly authenticator: Authenticator,
  ) {}

  onModuleInit(): void {
    if (isLoopback(this.http.host)) return;
    this.warn();
    this.timer = setInterval(() => this.warn(), WARN_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private warn(): void {
    if (this.authenticator.isRequired) return;
    this.logger.warn({
      message: 'remote clients can call every tool without authentication (http.allowRemoteWithoutAuth)',
      host: this.http.host,
    });
  }
}
