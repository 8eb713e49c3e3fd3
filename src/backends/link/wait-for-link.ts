import { unlessAborted } from '../../lib/cancellation/unless-aborted.js';
import { withTimeout } from '../../lib/deadlines/timeout.js';
import { cancelledError, timeoutError } from './link-errors.js';
import type { Link, LinkRequest } from './link.js';

/** Settles as `opening` does, but rejects at the deadline of the request, and when the caller cancels the request. */
export function waitForLink(server: string, opening: Promise<Link>, request: LinkRequest): Promise<Link> {
  const { caller, deadline, method, timeoutMs } = request;
  const link = caller ? unlessAborted(caller.signal, opening, cancelledError) : opening;
  if (deadline === undefined) return link;
  return withTimeout(link, deadline - performance.now(), () => timeoutError(server, method, timeoutMs));
}
