import type { Backend } from '../backends/backend.js';
import { toCallError } from '../backends/link/link-errors.js';
import type { Link } from '../backends/link/link.js';
import type { JsonText } from '../lib/json-text/json-text.js';
import type { Upstream } from '../core/subscriptions/upstream-lane.js';
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
  if (takesSubscriptions(link)) {
    const request = async (method: string, uri: string): Promise<void> => {
      // An update that came before there was a stream for it would be lost.
      await link.notificationsReady;
      const { timeoutMs } = backend.config;
      await link.request({ method, params: JSON.stringify({ uri }), timeoutMs }).catch((error) => {
        throw toCallError(backend.id, error);
      });
    };
    return {
      subscribe: (uri) => request('resources/subscribe', uri),
      unsubscribe: (uri) => request('resources/unsubscribe', uri),
    };
  }
  const { pollMs } = backend.config.watch;
  if (pollMs === undefined) return undefined;
  const read = (uri: string): Promise<JsonText> =>
    backend.gatewayRequest(link, 'resources/read', JSON.stringify({ uri }));
  return new PollingUpstream(read, changed, pollMs);
}

export const takesSubscriptions = (link: Link): boolean =>
  link.facts.capabilities.resources?.subscribe === true;
