import { Flag } from './schema/keys.js';

/** Access to the metrics. */
export class MetricsSettings {
  @Flag(
    'Whether /metrics and /health are open to every peer, instead of loopback peers and requests with an admin token only.',
  )
  readonly public: boolean = false;

  @Flag('Whether resource reads are also exposed as mcpResourceReadsTotal.')
  readonly aliases: boolean = true;
}
