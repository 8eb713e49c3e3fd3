import { Backend } from '../../src/backends/backend.js';
import type { Link, ServerNotification } from '../../src/backends/link/link.js';
import { TransportError, type TransportFault } from '../../src/backends/link/transport.js';
import { StdioServerConfig } from '../../src/config/stdio-server-config.js';
import type { Listing } from '../../src/core/catalog/catalog.js';
import type { JsonText } from '../../src/lib/json-text/json-text.js';
import { FakeClient } from './fake-client.js';
import { FakeLink, type PendingRequest } from './fake-link.js';
import { flushPromises } from './promises.js';

export const fault = (kind: TransportFault): TransportError => new TransportError(kind, `it is ${kind}`);

/** A backend whose links are fakes that the spec answers. */
export class BackendHarness {
  readonly links: FakeLink[] = [];
  readonly listings: Listing[] = [];
  readonly notified: ServerNotification[] = [];
  connect: (owner?: unknown) => Promise<Link> = () => Promise.resolve(new FakeLink());
  readonly backend: Backend;

  constructor(config: Partial<StdioServerConfig> = {}) {
    const settings = Object.assign(new StdioServerConfig(), { timeoutMs: 1000, ...config });
    const events = {
      listed: async (listing: Listing) => void this.listings.push(listing),
      notified: (notification: ServerNotification) => this.notified.push(notification),
      linkChanged: () => {},
      sessionLinkOpened: () => {},
      stateChanged: () => {},
      sessionListed: async () => {},
      sessionListOverLimit: () => {},
    };
    this.backend = new Backend('db', settings, (_signal, owner) => this.open(owner), events);
  }

  static async ready(config: Partial<StdioServerConfig> = {}): Promise<BackendHarness> {
    const harness = new BackendHarness(config);
    harness.backend.start();
    await flushPromises();
    return harness;
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }

  get state(): string {
    return this.backend.status().state;
  }

  call(client = new FakeClient('a')): Promise<JsonText> {
    return this.backend.call({ method: 'tools/call', params: '{"n":1}', caller: client.call() });
  }

  /** The call that has reached the server. */
  async pendingCall(): Promise<PendingRequest> {
    await flushPromises();
    return this.link.asked('tools/call');
  }

  /** The session of the link expires. */
  async expireSession(): Promise<void> {
    const { link } = this;
    (await this.pendingCall()).fail(fault('session-expired'));
    link.disconnect(fault('session-expired'));
  }

  private async open(owner: unknown): Promise<Link> {
    const link = await this.connect(owner);
    this.links.push(link as FakeLink);
    return link;
  }
}
