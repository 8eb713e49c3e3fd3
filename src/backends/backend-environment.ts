import { Injectable } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { LiveConfig } from '../config/live-config.js';
import { StartupSettings } from '../config/startup-settings.js';
import { Tracing } from '../mcp/tracing.js';
import { Metrics } from '../metrics/metrics.js';
import { Quotas } from '../state/quotas.js';
import { backendQuotas, type BackendQuotas } from './backend-quotas.js';
import { StartSlots } from './lifecycle/start-slots.js';

/** What all backends share. */
@Injectable()
export class BackendEnvironment {
  readonly quotas: BackendQuotas;
  readonly slots: StartSlots;

  constructor(
    readonly tracing: Tracing,
    limits: Limits,
    quotas: Quotas,
    startup: StartupSettings,
    metrics: Metrics,
    live: LiveConfig,
  ) {
    this.quotas = backendQuotas(
      quotas,
      limits,
      (limit) => metrics.countRefusal(limit),
      () => live.current.auth.isConfigured,
    );
    this.slots = new StartSlots(startup.parallel);
  }
}
