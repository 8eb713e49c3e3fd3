import { Injectable, Logger } from '@nestjs/common';
import { DecisionStore, type ServerDecision } from '../state/decision-store.js';
import { LiveConfig } from '../config/live-config.js';
import { effectiveServerDecision } from '../decisions/effective-decisions.js';
import { readServer } from '../config/read-server.js';
import type { ServerConfig } from '../config/servers-config.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

/** A configured server with the decisions of administrators applied. */
export interface DesiredServer {
  readonly id: string;
  /** Position in lists. The servers of the configuration come first, in the order of the file; then the added servers. */
  readonly rank: number;
  readonly config: ServerConfig;
  readonly enabled: boolean;
  /** Own names of tools that are neither listed nor callable. */
  readonly disabledTools: ReadonlySet<string>;
  /** Where its definition comes from. */
  readonly origin: 'config' | 'admin';
  /** Whether its URL or proxy was set through the admin API, so that `AddressPolicy` applies. */
  readonly isUrlFromApi: boolean;
}

type Listener = (servers: ReadonlyMap<string, DesiredServer>) => void;

/** The servers that should exist: the configuration with the decisions applied. `Backends` reconciles with them. */
@Injectable()
export class DesiredServers {
  private readonly logger = new Logger('DesiredServers');
  private readonly listeners = new ListenerSet<Parameters<Listener>>();
  private servers: ReadonlyMap<string, DesiredServer>;

  constructor(
    private readonly live: LiveConfig,
    private readonly decisions: DecisionStore,
  ) {
    this.servers = this.collect();
    this.logRemoved();
    live.onChange(() => {
      this.refresh();
      this.logRemoved();
    });
    decisions.onChange(() => this.refresh());
  }

  get current(): ReadonlyMap<string, DesiredServer> {
    return this.servers;
  }

  /** Whether the server is in the configuration, but was deleted through the admin API. */
  isRemoved(id: string): boolean {
    return this.live.current.mcpServers.has(id) && this.decisionOf(id).removed === true;
  }

  /** Listeners are called by ascending `order`; listeners of equal order in the order of their addition. */
  onChange(listener: Listener, order?: number): () => void {
    return this.listeners.add(listener, order);
  }

  private refresh(): void {
    this.servers = this.collect();
    this.listeners.emit(this.servers);
  }

  /** Logs the servers of the configuration that were deleted through the admin API, because a deletion is easily overlooked. */
  private logRemoved(): void {
    const servers = [...this.live.current.mcpServers.keys()].filter((id) => this.isRemoved(id));
    if (servers.length === 0) return;
    this.logger.log({
      message:
        'servers of the configuration were deleted through the admin API; enable a server to bring it back',
      servers,
    });
  }

  private collect(): ReadonlyMap<string, DesiredServer> {
    const declared = this.live.current.mcpServers;
    const ids = new Set([...declared.keys(), ...this.decisions.current.servers.keys()]);
    const servers = new Map<string, DesiredServer>();
    for (const id of ids) {
      const server = this.combine(id, servers.size, declared.get(id), this.decisionOf(id));
      if (server) servers.set(id, server);
    }
    return servers;
  }

  private decisionOf(id: string): ServerDecision {
    return effectiveServerDecision(id, this.decisions.current, this.live.current);
  }

  /** Undefined when the server does not exist: it was deleted, or its definition is missing or invalid. */
  private combine(
    id: string,
    rank: number,
    declared: ServerConfig | undefined,
    { enabled, tools = {}, definition, removed }: ServerDecision,
  ): DesiredServer | undefined {
    if (removed) return undefined;
    const config = definition ? this.readDefinition(id, definition) : declared;
    // A decision about a server that is not in the file stays in the store: the server may be added again.
    if (!config) return undefined;
    const disabledTools = new Set(config.tools.disabled);
    for (const [tool, isEnabled] of Object.entries(tools)) {
      if (isEnabled) disabledTools.delete(tool);
      else disabledTools.add(tool);
    }
    const origin = definition ? 'admin' : 'config';
    const isUrlFromApi = definition !== undefined && !hasSameRoute(config, declared);
    return { id, rank, config, disabledTools, origin, isUrlFromApi, enabled: enabled ?? config.enabled };
  }

  private readDefinition(id: string, definition: unknown): ServerConfig | undefined {
    try {
      return readServer(id, definition);
    } catch (error) {
      this.logger.error({
        message: 'a stored server cannot be used',
        server: id,
        problem: (error as Error).message,
      });
      return undefined;
    }
  }
}

/** Undefined for a server without a URL. */
export const urlOf = (config: ServerConfig | undefined): string | undefined =>
  config && config.type !== 'stdio' ? config.url : undefined;

const proxyOf = (config: ServerConfig | undefined): string | undefined =>
  config && config.type !== 'stdio' ? config.proxy : undefined;

const hasSameRoute = (a: ServerConfig, b: ServerConfig | undefined): boolean =>
  urlOf(a) === urlOf(b) && proxyOf(a) === proxyOf(b);
