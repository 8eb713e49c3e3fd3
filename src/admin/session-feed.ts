import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { publicSessionId } from '../edge/session.js';
import { runSliced, type Steps } from '../lib/slices/run-sliced.js';
import { sliceScheduler } from '../lib/slices/slices.js';
import { ChangeFeed } from './change-feed.js';
import { ConnectedClients, type ConnectedClient } from './connected-clients.js';
import { SessionViews } from './session-views.js';

/** Open sessions are polled: their requests and streams begin and end too often to publish each change. */
const POLL_INTERVAL_MS = 1000;
/**
 * If more sessions than this have changed at a poll, one event says how many. Readers then read the list of sessions again.
 */
export const MAX_PUBLISHED_SESSIONS = 50;

/** The counters of a listen stream, which makes no calls. */
const NO_CALLS = { calls: 0, inFlight: 0 };

/** Publishes sessions and listen streams that open, change and close. */
@Injectable()
export class SessionFeed implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  /** The state of each session when it was last published. */
  private published = new WeakMap<ConnectedClient, string>();

  constructor(
    private readonly clients: ConnectedClients,
    private readonly views: SessionViews,
    private readonly feed: ChangeFeed,
  ) {}

  onModuleInit(): void {
    this.clients.onOpen((client) => {
      this.publish(client);
      const id = publicSessionId(client);
      client.onClose(() => this.feed.publish('session', { id, closed: true }));
    });
    this.timer = setInterval(() => void this.poll(), POLL_INTERVAL_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  private async poll(): Promise<void> {
    if (!this.feed.hasReaders) {
      // Changes are not published while there is no reader. The empty map makes the first poll with a reader treat every
      // session as changed.
      this.published = new WeakMap();
      return;
    }
    const changed: ConnectedClient[] = [];
    await runSliced(this.collectChanged(changed), sliceScheduler.start());
    if (changed.length > MAX_PUBLISHED_SESSIONS) this.feed.publish('session', { changed: changed.length });
    else for (const client of changed) if (!client.isClosed) this.publish(client);
  }

  private *collectChanged(changed: ConnectedClient[]): Steps {
    for (const client of this.clients.all()) {
      yield;
      const state = this.stateOf(client);
      if (this.published.get(client) === state) continue;
      this.published.set(client, state);
      changed.push(client);
    }
  }

  private publish(client: ConnectedClient): void {
    if (!this.feed.hasReaders) return;
    this.published.set(client, this.stateOf(client));
    this.feed.publish('session', this.views.summary(client));
  }

  /** A text that changes when the session changes. It omits `lastSeen`, which changes all the time while a stream is open. */
  private stateOf(client: ConnectedClient): string {
    const { calls, inFlight } = client.kind === 'session' ? client : NO_CALLS;
    return `${calls} ${inFlight} ${client.hasStream} ${this.views.subscriptionsOf(client)} ${client.scope.key}`;
  }
}
