import type { GatehouseConfig } from '../../src/config/gatehouse-config.js';
import { LiveConfig } from '../../src/config/live-config.js';
import { readConfig } from '../../src/config/load-config.js';

/** The configuration of a file with this content. */
export const configOf = (content: object): GatehouseConfig =>
  readConfig({ text: JSON.stringify(content), source: 'g.json', env: {} });

export const liveConfig = (content: object): LiveConfig => new LiveConfig(configOf(content));
