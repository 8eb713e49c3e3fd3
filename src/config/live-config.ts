import type { GatehouseConfig } from './gatehouse-config.js';

type Listener = (now: GatehouseConfig, before: GatehouseConfig) => void;

/** The configuration as it is now. Most of it holds until the next start; servers, projects and keys follow the file. */
export class LiveConfig {
  private readonly listeners = new Set<Listener>();

  constructor(private config: GatehouseConfig) {}

  get current(): GatehouseConfig {
    return this.config;
  }

  replace(config: GatehouseConfig): void {
    const before = this.config;
    this.config = config;
    for (const listener of this.listeners) listener(config, before);
  }

  onChange(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
