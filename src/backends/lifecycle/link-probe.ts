import { RemoteError } from '../../core/errors.js';
import type { LinkRequest } from '../link/link.js';
import { isBadRequest } from '../link/link-faults.js';
import { TransportError } from '../link/transport.js';

const PING_TIMEOUT_MS = 5000;

/** Finds out by a ping what a fault or a silence means: whether the server is there, and whether it still knows us. */
export class LinkProbe {
  private checking = false;

  constructor(
    private readonly request: (request: LinkRequest) => Promise<unknown>,
    private readonly onForgotten: (reason: TransportError) => void,
  ) {}

  /** Rejects when there is no answer. Any will do: a server need not know the method. */
  async ping(timeoutMs = PING_TIMEOUT_MS): Promise<void> {
    try {
      await this.request({ method: 'ping', timeoutMs });
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
    }
  }

  /** Some servers call an unknown session a bad request. Whether it is that, a ping will tell, which is never bad. */
  checkSession(): void {
    if (this.checking) return;
    this.checking = true;
    this.ping()
      .catch((error: Error) => {
        if (isBadRequest(error)) this.onForgotten(new TransportError('session-lost', error.message));
      })
      .finally(() => (this.checking = false));
  }
}
