import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import { ReadinessSettings } from '../config/readiness-settings.js';

/** The servers without which the gateway is not ready: each must have been connected once. Losing it does not count. */
@Injectable()
export class RequiredServers implements OnModuleInit {
  private readonly missing: Set<string>;

  constructor(
    { requireServers }: ReadinessSettings,
    private readonly servers: DesiredServers,
    private readonly backends: Backends,
  ) {
    this.missing = new Set(requireServers);
  }

  onModuleInit(): void {
    this.backends.onStateChange((backend) => {
      if (backend.status().state === 'ready') this.missing.delete(backend.id);
    });
  }

  /** One that an operator has disabled is waited for in vain, and so not at all. */
  get wereConnected(): boolean {
    return ![...this.missing].some((id) => this.servers.current.get(id)?.enabled);
  }
}
