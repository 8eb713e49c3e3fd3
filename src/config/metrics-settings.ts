import { Flag } from './schema/keys.js';

/** Who may read the metrics. */
export class MetricsSettings {
  @Flag('Whether /metrics and /health answer everybody, and not only loopback and holders of an admin token.')
  readonly public: boolean = false;

  @Flag('Whether resource reads are also counted under the name mcpResourceReadsTotal.')
  readonly aliases: boolean = true;
}
