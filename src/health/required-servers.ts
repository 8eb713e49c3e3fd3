import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Backends } from '../backends/backends.service.js';
import { DesiredServers } from '../backends/desired-servers.js';
import { ReadinessSettings } from '../config/readiness-settings.js';

/** The servers of `readiness.requireServers`, each of which must be connected once before the gateway is ready. */
@Injectable()
export class RequiredServers implements OnModuleInit {
  /** Servers that have not been connected yet. */
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

  /** Whether every required server has been connected at least once. A disabled server is not required. */
  get allWereConnected(): boolean {
    const isRequired = (id: string): boolean => this.servers.current.get(id)?.enabled === true;
    return [...this.missing].filter(isRequired).length === 0;
  }
}
