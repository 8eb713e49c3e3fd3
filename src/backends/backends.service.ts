import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Limits } from '../config/limits.js';
import { Naming } from '../config/naming.js';
import { ServersConfig, type ServerConfig } from '../config/servers-config.js';
import { serverUnavailable } from '../core/errors.js';
import type { McpClient } from '../mcp/mcp-context.js';
import { Registry } from '../registry/registry.service.js';
import { Backend } from './backend.js';
import { connectTo } from './connect.js';
import type { ServerNotification } from './link.js';

type NotificationListener = (server: string, notification: ServerNotification) => void;

/** Every configured server. Starts them all at once and waits for none. */
@Injectable()
export class Backends implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly backends = new Map<string, Backend>();
  private readonly listeners = new Set<NotificationListener>();

  constructor(
    servers: ServersConfig,
    private readonly naming: Naming,
    private readonly limits: Limits,
    private readonly registry: Registry,
  ) {
    let rank = 0;
    for (const [id, config] of servers)
      if (config.enabled) this.backends.set(id, this.create(id, config, rank++));
  }

  onApplicationBootstrap(): void {
    for (const backend of this.backends.values()) backend.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.backends.values()].map((backend) => backend.stop()));
  }

  all(): Iterable<Backend> {
    return this.backends.values();
  }

  get(id: string): Backend {
    const backend = this.backends.get(id);
    if (!backend) throw serverUnavailable(id, 'it is not enabled');
    return backend;
  }

  /** Tells the servers that keep a link for this client alone. */
  tellServersOf(client: McpClient, method: string): void {
    for (const backend of this.backends.values()) backend.tellServerOf(client, method);
  }

  /** What servers say that is not for one client alone. */
  onNotification(listener: NotificationListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private create(id: string, config: ServerConfig, rank: number): Backend {
    const style = config.naming?.tools ?? this.naming.tools;
    const disabledTools = new Set(config.tools.disabled);
    return new Backend(id, config, connectTo(id, config, this.limits), {
      listed: (listing) => this.registry.put({ id, rank, listing, style, disabledTools }),
      notified: (notification) => {
        for (const listener of this.listeners) listener(id, notification);
      },
    });
  }
}
