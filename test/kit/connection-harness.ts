import type { Link } from '../../src/backends/link/link.js';
import { ServerConnection } from '../../src/backends/lifecycle/server-connection.js';
import { FakeLink } from './fake-link.js';
import { advanceTime } from './fake-time.js';
import { flushPromises } from './promises.js';

/** A connection, and a server that accepts or refuses it as the test decides. */
export class ConnectionHarness {
  readonly links: FakeLink[] = [];
  readonly lost: { link: Link; reason: Error }[] = [];
  readonly opened: Link[] = [];
  readonly states: string[] = [];
  attempts = 0;
  signal: AbortSignal | undefined;
  /** The outcome of a connection attempt. */
  connect: () => Promise<FakeLink> = () => Promise.resolve(new FakeLink());
  readonly connection: ServerConnection;

  constructor(options: ConstructorParameters<typeof ServerConnection>[3] = {}) {
    const connect = async (signal: AbortSignal): Promise<FakeLink> => {
      this.attempts++;
      this.signal = signal;
      const link = await this.connect();
      this.links.push(link);
      return link;
    };
    const observer = {
      opened: (link: Link) => this.opened.push(link),
      lost: (link: Link, reason: Error) => this.lost.push({ link, reason }),
      stateChanged: () => this.states.push(this.state),
    };
    this.connection = new ServerConnection('db', connect, observer, options);
  }

  static async ready(): Promise<ConnectionHarness> {
    const harness = new ConnectionHarness();
    harness.connection.start();
    await flushPromises();
    return harness;
  }

  /** Five attempts have failed, and further attempts fail as well. */
  static async inCrashLoop(): Promise<ConnectionHarness> {
    const harness = new ConnectionHarness();
    harness.refuse();
    harness.connection.start();
    for (const delayMs of [0, 500, 1000, 2000, 4000]) await advanceTime(delayMs);
    return harness;
  }

  get link(): FakeLink {
    return this.links.at(-1)!;
  }

  get state(): string {
    return this.connection.status.state;
  }

  refuse(reason: Error = new Error('refused')): void {
    this.connect = () => Promise.reject(reason);
  }

  accept(): void {
    this.connect = () => Promise.resolve(new FakeLink());
  }
}
