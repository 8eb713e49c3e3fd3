import type { UpstreamOptions } from '../core/subscriptions/upstream-subscriptions.js';

/** How servers are told. Clients come and go; a server is not told of each. */
export const UPSTREAM_OPTIONS: UpstreamOptions = { lingerMs: 500, schedule: runLater };

function runLater(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs).unref();
  return () => clearTimeout(timer);
}
