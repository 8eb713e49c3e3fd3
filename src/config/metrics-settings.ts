import { Flag } from './schema/keys.js';

/** Access to the metrics. */
export class MetricsSettings {
  @Flag(
    'Whether every peer may read /metrics and /health. By default, only loopback peers and requests with the admin or viewer ' +
      'token may.',
  )
  readonly public: boolean = false;

  @Flag('Whether resource reads are also exposed as mcpResourceReadsTotal.')
  readonly aliases: boolean = true;
}
