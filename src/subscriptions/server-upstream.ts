import type { Backend } from '../backends/backend.js';
import { asCallError } from '../backends/call-errors.js';
import type { Link } from '../backends/link.js';
import type { JsonText } from '../core/json-text.js';
import type { Upstream } from '../core/upstream-lane.js';
import { PollingUpstream } from './polling-upstream.js';

/**
 * How a server comes to tell of changes: it is asked to, or looked at now and then, which `changed` hears of. Undefined
 * when it takes no subscriptions, and nobody asked for its resources to be looked at.
 */
export function upstreamOver(
  backend: Backend,
  link: Link,
  changed: (uri: string) => void,
): Upstream | undefined {
  const request = async (method: string, uri: string): Promise<JsonText> => {
    try {
      const { timeoutMs } = backend.config;
      return await link.request({ method, params: JSON.stringify({ uri }), timeoutMs });
    } catch (error) {
      throw asCallError(backend.id, error);
    }
  };
  if (link.facts.capabilities.resources?.subscribe) {
    return {
      subscribe: async (uri) => void (await request('resources/subscribe', uri)),
      unsubscribe: async (uri) => void (await request('resources/unsubscribe', uri)),
    };
  }
  const { pollMs } = backend.config.watch;
  if (pollMs === undefined) return undefined;
  return new PollingUpstream((uri) => request('resources/read', uri), changed, pollMs);
}
