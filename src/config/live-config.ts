import type { GatehouseConfig } from './gatehouse-config.js';
import { ListenerSet } from '../lib/listeners/listener-set.js';

type Listener = (now: GatehouseConfig, before: GatehouseConfig) => void;

/** The configuration of the last valid file. Only the `LIVE_KEYS` of `ConfigReloader` apply without a restart. */
export class LiveConfig {
  private readonly listeners = new ListenerSet<Parameters<Listener>>();

  constructor(private config: GatehouseConfig) {}

  get current(): GatehouseConfig {
    return this.config;
  }

  replace(config: GatehouseConfig): void {
    const before = this.config;
    this.config = config;
    this.listeners.emit(config, before);
  }

  /**
   * Listeners are called in ascending `order`, and those with the same `order` in the sequence in which they were added.
   */
  onChange(listener: Listener, order?: number): () => void {
    return this.listeners.add(listener, order);
  }
}
